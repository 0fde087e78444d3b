#!/usr/bin/env python3
"""Writes a few small valid files of every format, one folder per fuzzer: make_seeds.py FOLDER."""
import base64
import io
import pathlib
import struct
import sys
import zipfile
import zlib


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


def fitted(content, remainder):
    """The size of an input chooses the reader: blank lines make it so."""
    while len(content) % 4 != remainder:
        content += b"\n"
    return content


def vtk_xml(encoding, arrays, appended=b""):
    """`arrays` are (attributes, text) of an array of point data and of the points."""
    text = '<?xml version="1.0"?>\n<VTKFile type="PolyData" byte_order="LittleEndian"%s>\n<PolyData>' % encoding
    text += '<Piece NumberOfPoints="2"><PointData><DataArray type="Int16" Name="a" %s>%s</DataArray></PointData>' % arrays[0]
    text += '<Points><DataArray type="Float32" NumberOfComponents="3" %s>%s</DataArray></Points></Piece></PolyData>' % arrays[1]
    return text.encode() + appended + b"</VTKFile>\n"


def vtk_files():
    header = "# vtk DataFile Version %s\nseed\n%s\nDATASET POLYDATA\nPOINTS 2 float\n"
    shorts = struct.pack("<2h", 1, 2)
    floats = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    plain = [struct.pack("<I", len(data)) + data for data in (shorts, floats)]
    packed = [zlib.compress(data) for data in (shorts, floats)]
    sizes = [struct.pack("<4I", 1, len(data), 0, len(part)) for data, part in zip((shorts, floats), packed)]
    coded = [base64.b64encode(data).decode() for data in plain]
    blocks = [(base64.b64encode(size) + base64.b64encode(part)).decode() for size, part in zip(sizes, packed)]
    compressor = ' compressor="vtkZLibDataCompressor"'
    offsets = ('format="appended" offset="0"', 'format="appended" offset="%d"')
    raw = [size + part for size, part in zip(sizes, packed)]
    return [
        (header % ("3.0", "ASCII")).encode() + b"1 2 3\n4 5 6\nVERTICES 1 2\n1 0\nPOINT_DATA 2\nSCALARS s int\nLOOKUP_TABLE d\n1 2\n"
        b"FIELD f 1\nq 2 2 double\n1 2 3 4\nMETADATA\nINFORMATION 0\n\nNORMALS n float\n0 0 1 0 1 0\n",
        (header % ("5.1", "BINARY")).encode() + struct.pack(">6f", 1, 2, 3, 4, 5, 6) + b"\nPOLYGONS 2 1\nOFFSETS vtktypeint64\n"
        + bytes(16) + b"\nCONNECTIVITY vtktypeint64\n" + bytes(8) + b"\nPOINT_DATA 2\nVECTORS v short\n" + bytes(12) + b"\n",
        vtk_xml("", [('format="ascii"', "1 2"), ('format="ascii"', "1 2 3\n4 5 6")]),
        vtk_xml("", [('format="binary"', coded[0]), ('format="binary"', coded[1])]),
        vtk_xml(compressor, [('format="binary"', blocks[0]), ('format="binary"', blocks[1])]),
        vtk_xml(compressor, [(offsets[0], ""), (offsets[1] % len(raw[0]), "")],
                b'<AppendedData encoding="raw">_' + raw[0] + raw[1] + b"</AppendedData>"),
        vtk_xml("", [(offsets[0], ""), (offsets[1] % len(coded[0]), "")],
                b'<AppendedData encoding="base64">_' + (coded[0] + coded[1]).encode() + b"</AppendedData>"),
    ]


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
    yield "molecules", [
        fitted(b"MODEL        1\nATOM      1  N   MET A   1      27.340  24.430   2.614  1.00  9.67           N  \nENDMDL\n", 0),
        fitted(b"title\n1\n    1SOL     OW    1   0.230   0.628   0.113  0.1  0.2  0.3\n 1.8 1.8 1.8\n", 1),
        fitted(b'1\nLattice="1 0 0 0 1 0 0 0 1" Properties=species:S:1:pos:R:3:q:I:1\nNa 1 2 3 4\n1\n\nH 0 0 0 1\n', 2),
        fitted(b"seed\n\n1 atoms\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n\nAtoms # full\n\n1 1 1 0.5 1 2 3 0 0 0\n", 3),
        fitted(b"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\nITEM: ATOMS id x y z\n"
               b"1 2 3 4\n", 3),
    ]
    yield "vtk", vtk_files()
    record = struct.pack("<i3fi", 12, 1, 2, 3, 12)
    yield "raw", [
        b"f32 x,y,z,i\n" + floats[:16],
        b"be skip=2 rows=1 f64 x; u8 _; pad 1\n" + bytes(12),
        b"fortran skip=1 records=1 f32 x,y,z\n" + record * 3,
        b"fortran arrays i16 2\n" + record,
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
        b'id,name\n1,Smith Ltd\n2,"Smith, Limited"\n',
        b'name\tid\n"a ""b""\t1\n\xc3\xa9 c\t2\n',
    ]
    yield "class_file", [
        b"2,1,3,2\n1.5,-2,0\n0.25,1e2,2\n7,8,-1\n",
        b"\xef\xbb\xbf 1 , 2,1,1 \r\n 1 , 0 \r\n+2.5,\t-1\r\n3,-1\r\n\r\n \t",
        b"0,2,4294967295,3\n1,2,3,-1\n.5,-0,5.,-1",
        b"3,0,50,1\n1e-400,49\n12345678901234567890.5,00\n1e308,7\n",
    ]
    yield "pose_file", [
        b"# pose\n1 0 0 1.5\n0 1 0 -2\n0 0 1 3e2\n0 0 0 1\n",
        b"1,0,0,4;0,1,0,5;0,0,1,6",
        b"1 0 2\n0 1 3\n0 0 1\n",
        b'{"fitness": 0.5, "transformation": [[1,0,0,1],[0,1,0,2],[0,0,1,3],[0,0,0,1]]}',
        b"[1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3]",
        npy("<f8", "(4, 4)", struct.pack("<16d", 1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1)),
        npy(">f4", "(3, 4)", struct.pack(">12f", 1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3), True),
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
