// Draws the points with WebGL 2: slices of all clouds into a picture with depths, and that onto the canvas.
import {MAP_SIZE} from './colors.js';
import {POINT_FRAGMENT, POINT_MODES, POINT_VERTEX, SCREEN_FRAGMENT, SCREEN_VERTEX} from './shaders.js';

function compile(gl, kind, text) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
    throw new Error(`the graphics driver refuses a shader: ${gl.getShaderInfoLog(shader)}`);
  }
  return shader;
}

/** A program and where its uniforms are. */
function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`the graphics driver refuses a program: ${gl.getProgramInfoLog(program)}`);
  }
  const at = {};
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0;
  for (let i = 0; i < count; ++i) {
    const {name} = gl.getActiveUniform(program, i);
    at[name] = gl.getUniformLocation(program, name);
  }
  return {program, at};
}

function makeTexture(gl) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
    gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
  return texture;
}

/** The buffers of a cloud. Attribute 0: positions, 1: values, 2: colours. */
function makeBuffers(gl, positions) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, positions, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  return {array, extra: gl.createBuffer(), mode: POINT_MODES.cloud};
}

/** The context of the canvas that points are drawn on, null where there is no WebGL 2. */
export function openContext(canvas) {
  return canvas.getContext(
      'webgl2', {alpha: true, antialias: false, depth: false, powerPreference: 'high-performance'});
}

/**
 * @param {WebGL2RenderingContext} gl of openContext()
 * @param {Float32Array[]} positions of the clouds
 */
export function makeRenderer(gl, positions) {
  const {canvas} = gl;
  let points, screen, colors, depth, frame, palette, empty, clouds;
  let size = [0, 0];

  /** Makes everything anew: at the start, and after the driver lost it. */
  function prepare() {
    points = makeProgram(gl, POINT_VERTEX, POINT_FRAGMENT);
    screen = makeProgram(gl, SCREEN_VERTEX, SCREEN_FRAGMENT);
    clouds = positions.map((part) => makeBuffers(gl, part));
    empty = gl.createVertexArray();
    palette = makeTexture(gl);
    colors = makeTexture(gl);
    depth = makeTexture(gl);
    frame = gl.createFramebuffer();
    size = [0, 0];
  }

  function resize() {
    if (size[0] === canvas.width && size[1] === canvas.height) return;
    size = [canvas.width, canvas.height];
    gl.bindTexture(gl.TEXTURE_2D, colors);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, ...size, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    gl.bindTexture(gl.TEXTURE_2D, depth);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, ...size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, colors, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depth, 0);
  }

  /** Gives a cloud its values or colours: see makeColoring(). */
  function setColors(number, {mode, values, colors: bytes}) {
    const cloud = clouds[number];
    cloud.mode = POINT_MODES[mode];
    gl.bindVertexArray(cloud.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, cloud.extra);
    gl.bufferData(gl.ARRAY_BUFFER, values ?? bytes ?? new Float32Array(0), gl.STATIC_DRAW);
    for (const attribute of [1, 2]) gl.disableVertexAttribArray(attribute);
    if (values) {
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 1, gl.FLOAT, false, 0, 0);
    } else if (bytes) {
      gl.enableVertexAttribArray(2);
      gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    }
  }

  /** The colours that values or labels name: RGBA, rows of MAP_SIZE. */
  function setPalette(table) {
    const rows = Math.min(Math.ceil(table.length / 4 / MAP_SIZE), gl.getParameter(gl.MAX_TEXTURE_SIZE));
    const whole = new Uint8Array(4 * MAP_SIZE * rows);
    whole.set(table.subarray(0, whole.length));
    gl.bindTexture(gl.TEXTURE_2D, palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, MAP_SIZE, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, whole);
  }

  /** Draws the points from one share of each visible cloud to another: 0 begins a picture, 1 ends it. */
  function drawSlice(
      from, to, {clouds: shown, range, grey, size: pointSize, distance, haze, depths, perspective, rim}) {
    resize();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.viewport(0, 0, ...size);
    gl.enable(gl.DEPTH_TEST);
    if (from === 0) {
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    }
    const {program, at} = points;
    gl.useProgram(program);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, palette);
    gl.uniform1i(at.u_palette, 0);
    gl.uniform3fv(at.u_grey, grey);
    gl.uniform2fv(at.u_range, range);
    gl.uniform1f(at.u_size, pointSize);
    gl.uniform1f(at.u_distance, distance);
    gl.uniform4fv(at.u_haze, haze);
    gl.uniform2fv(at.u_depths, depths);
    gl.uniform1i(at.u_perspective, perspective);
    gl.uniform1f(at.u_rim, rim);
    clouds.forEach((cloud, number) => {
      const {visible, count, matrix, color} = shown[number];
      const [first, end] = [Math.floor(count * from), Math.floor(count * to)];
      if (!visible || first === end) return;
      gl.uniformMatrix4fv(at.u_matrix, false, matrix);
      gl.uniform1i(at.u_mode, cloud.mode);
      gl.uniform3fv(at.u_cloud, color);
      gl.bindVertexArray(cloud.array);
      gl.drawArrays(gl.POINTS, first, end - first);
    });
  }

  /** Puts what was drawn onto the canvas. */
  function present({depths, distance, perspective, strength, reach}) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, ...size);
    gl.disable(gl.DEPTH_TEST);
    const {program, at} = screen;
    gl.useProgram(program);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, depth);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, colors);
    gl.uniform1i(at.u_colors, 0);
    gl.uniform1i(at.u_depth, 1);
    gl.uniform2fv(at.u_depths, depths);
    gl.uniform1f(at.u_distance, distance);
    gl.uniform1i(at.u_perspective, perspective);
    gl.uniform1f(at.u_strength, strength);
    gl.uniform1f(at.u_reach, reach);
    gl.bindVertexArray(empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindTexture(gl.TEXTURE_2D, null);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, null);
    gl.activeTexture(gl.TEXTURE0);
  }

  prepare();
  return {
    prepare,
    setColors,
    setPalette,
    drawSlice,
    present,
    isLost: () => gl.isContextLost(),
    largest: Math.min(gl.getParameter(gl.MAX_TEXTURE_SIZE), ...gl.getParameter(gl.MAX_VIEWPORT_DIMS)),
  };
}
