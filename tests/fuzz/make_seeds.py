#!/usr/bin/env python3
"""Writes a few small valid files of every format, one folder per fuzzer: make_seeds.py FOLDER."""
import io
import pathlib
import struct
import sys
import zipfile


def npy(descr, shape, data, fortran=False, version=1):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, fortran, shape)
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def npz(arrays, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", array)
    return out.getvalue()


def ply(encoding, body):
    header = (
        "ply\nformat %s 1.0\ncomment seed\nelement face 1\nproperty list uchar int v\nelement vertex 2\n"
        "property float x\nproperty double y\nproperty short z\nproperty list char uchar w\nend_header\n" % encoding
    )
    return header.encode() + body


def ply_binary(order):
    body = struct.pack(order + "Biii", 3, 0, 1, 0)
    for i in range(2):
        body += struct.pack(order + "fdhbBB", i, i + 0.5, -i, 2, 7, 8)
    return body


def pcd(encoding, body):
    header = (
        "VERSION 0.7\nFIELDS x y z _ n\nSIZE 4 8 4 1 2\nTYPE F F I U U\nCOUNT 1 1 1 2 2\nWIDTH 2\nHEIGHT 1\n"
        "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA %s\n" % encoding
    )
    return header.encode() + body


def pcd_compressed(planes):
    literals = b"".join(bytes([len(planes[i : i + 32]) - 1]) + planes[i : i + 32] for i in range(0, len(planes), 32))
    return struct.pack("<II", len(literals), len(planes)) + literals


def las(minor, point_format, record_bytes):
    header_bytes = 375 if minor == 4 else 227
    header = b"LASF" + bytes(20) + bytes([1, minor]) + bytes(68)
    header += struct.pack("<HIIBHI", header_bytes, header_bytes + 54, 1, point_format, record_bytes, 2) + bytes(20)
    header += struct.pack("<6d", 0.01, 0.01, 0.01, 1, 2, 3) + bytes(48)
    if minor == 4:
        header += bytes(20) + struct.pack("<Q", 2) + bytes(120)
    return header + bytes(54) + bytes(range(record_bytes)) * 2


def seeds():
    floats = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    doubles = struct.pack("<4d", 0, 1, 0, float("inf"))
    arrays = [
        npy("<f4", "(3, 2)", floats),
        npy(">f8", "(2, 2)", doubles, fortran=True, version=2),
        npy("<i8", "(4,)", struct.pack("<4q", 0, 2, 1, 4), version=3),
        npy("|u1", "(2, 3)", bytes(range(6))),
        npy("<f2", "(3, 4)", floats),
        npy("|b1", "(3, 2)", bytes(6)),
    ]
    yield "npy", arrays
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    yield "npz", [npz({"points": arrays[0], "other": arrays[2]}, m) for m in methods] + [npz({"a": arrays[3]}, methods[1])]
    fixed = {
        "indices": npy("<u4", "(2, 2)", struct.pack("<4I", 0, 2, 1, 4)),
        "distances": npy("<f8", "(2, 2)", doubles),
        "points": npy("<u8", "()", struct.pack("<Q", 4)),
    }
    lists = {
        "offsets": npy("<u8", "(3,)", struct.pack("<3Q", 0, 1, 3)),
        "indices": npy("<u4", "(3,)", struct.pack("<3I", 0, 2, 1)),
        "distances": npy("<f4", "(3,)", struct.pack("<3f", 0, 2, 1)),
        "points": npy("<u8", "(1,)", struct.pack("<Q", 4)),
    }
    bare = {name: fixed[name] for name in ("indices", "distances")}
    yield "neighbors_file", [npz(content, m) for content in (fixed, lists, bare) for m in methods]
    yield "ply", [
        ply("ascii", b"3 0 1 0\n1 2.5 -3 2 7 8\n4 nan 6 0\n"),
        ply("binary_little_endian", ply_binary("<")),
        ply("binary_big_endian", ply_binary(">")),
    ]
    record = struct.pack("<fdiBBHH", 1, 2, 3, 0, 0, 4, 5)
    yield "pcd", [
        pcd("ascii", b"1 2 3 0 0 4 5\nnan 7 8 0 0 9 10\n"),
        pcd("binary", record * 2),
        pcd("binary_compressed", pcd_compressed(bytes(range(len(record) * 2)))),
    ]
    yield "las", [las(2, 3, 34), las(2, 0, 20), las(4, 7, 40)]
    yield "vecs", [
        struct.pack("<iff", 2, 1, 2) * 3,
        struct.pack("<iBBB", 3, 1, 2, 3) * 3,
        struct.pack("<i4i", 4, 1, 2, 3, 4) * 2,
    ]
    yield "idx", [
        bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 2, 2) + bytes(8),
        bytes([0, 0, 0x0D, 1]) + struct.pack(">I3f", 3, 1, 2, 3),
        bytes([0, 0, 0x0E, 2]) + struct.pack(">II2d", 2, 1, 1, 2),
    ]
    yield "sequences", [
        b"one\ntwo\r\n\nthr\xc3\xa9e",
        b">a b\nACGT\n;c\nAC GT\n>d\n",
        b"2 6\nalpha ACG\nbeta  TTT\n\nTAC\nTTT\n",
        b" 2 4\nHomo sapieACGT\nPan       ACGA\n",
        b"3 1,2\n\n7\t7, 0\r\n4294967295",
    ]
    yield "class_file", [
        b"2,1,3,2\n1.5,-2,0\n0.25,1e2,2\n7,8,-1\n",
        b"\xef\xbb\xbf 1 , 2,1,1 \r\n 1 , 0 \r\n+2.5,\t-1\r\n3,-1\r\n\r\n \t",
        b"0,2,4294967295,3\n1,2,3,-1\n.5,-0,5.,-1",
        b"3,0,50,1\n1e-400,49\n12345678901234567890.5,00\n1e308,7\n",
    ]
    # A mode, a recipe for a small index, and changes to it; any bytes mean something.
    yield "index_file", [bytes((number * 61 + i * 37 + i * i) % 256 for i in range(64)) for number in range(64)]
    yield "text", [
        b"x,y,label\n1,2.5,a\n3,4e-2,b\n",
        b"\xef\xbb\xbfx;y\r\n1;2\r\n\r\n3;nan",
        b"# comment\n1 2 3\n4 5 6\n",
        b'"a b","c ""d"""\n"1",2\n',
        b"1\t2\t?\n3\t\t4\n",
        b"\x00\x00x\ty\n35,5\t-2,1\n1,5D3\t4\n",
        b"\x80\x000,5;1.234,5\n,5;2\n",
        b"\x02\x00#made\nx,y\n#between\n1,2\n#N/A,3\n# c\n#DIV/0!,\xe2\x88\x924\n",
        b"\x04\x00#N/A,1\n%2,3\n//x,4\n####,5\n",
    ]


def main():
    target = pathlib.Path(sys.argv[1])
    everything = []
    for name, files in seeds():
        everything += files
        for number, content in enumerate(files):
            path = target / (name + "_fuzzer") / ("seed%d" % number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for number, content in enumerate(everything):
        path = target / "read_points_fuzzer" / ("seed%d" % number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
