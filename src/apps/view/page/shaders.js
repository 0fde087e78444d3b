// The programs of the GPU: points into a picture with depths, then that picture onto the screen with shading by depth.

export const POINT_MODES = {
  none: 0,
  cloud: 1,
  number: 2,
  label: 3,
  color: 4
};

export const POINT_VERTEX = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec3 a_position;
layout(location = 1) in float a_value;
layout(location = 2) in vec4 a_color;
uniform mat4 u_matrix;
uniform int u_mode;
uniform vec3 u_cloud;
uniform vec3 u_grey;
uniform vec2 u_range;       // of values: start, 1 / width
uniform sampler2D u_palette;
uniform float u_size;       // in pixels, at u_distance
uniform float u_distance;
uniform vec4 u_haze;        // colour and amount
uniform vec2 u_depths;
uniform bool u_perspective;
flat out vec3 v_color;

void main() {
  gl_Position = u_matrix * vec4(a_position, 1.0);
  float depth = u_perspective ? gl_Position.w : u_depths.x + (gl_Position.z * 0.5 + 0.5) * (u_depths.y - u_depths.x);
  gl_PointSize = u_perspective ? u_size * clamp(sqrt(u_distance / max(depth, 1e-9)), 0.75, 4.0) : u_size;
  vec3 color = u_grey;
  if (u_mode == 1) {
    color = u_cloud;
  } else if (u_mode == 2) {
    if (a_value > -5.0) {
      int place = int(clamp((a_value - u_range.x) * u_range.y, 0.0, 1.0) * 255.0 + 0.5);
      color = texelFetch(u_palette, ivec2(place, 0), 0).rgb;
    }
  } else if (u_mode == 3) {
    if (a_value > -0.5) {
      int number = int(a_value + 0.5);
      vec4 entry = texelFetch(u_palette, ivec2(number & 255, number >> 8), 0);
      color = entry.rgb;
      if (entry.a < 0.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);  // switched off: outside of the screen
    }
  } else if (u_mode == 4) {
    color = a_color.rgb;
  }
  float far = clamp((depth - u_depths.x) / max(u_depths.y - u_depths.x, 1e-9), 0.0, 1.0);
  v_color = mix(color, u_haze.rgb, u_haze.a * far);
}`;

export const POINT_FRAGMENT = `#version 300 es
precision mediump float;
flat in vec3 v_color;
uniform float u_rim;
out vec4 color;

void main() {
  vec2 place = gl_PointCoord * 2.0 - 1.0;
  float radius = dot(place, place);
  if (radius > 1.0) discard;
  color = vec4(v_color * (1.0 - u_rim * radius), 1.0);
}`;

export const SCREEN_VERTEX = `#version 300 es
void main() {
  gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}`;

// What lies behind its neighbours on the screen gets darker, by how much farther from the eye it is.
export const SCREEN_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D u_colors;
uniform highp sampler2D u_depth;
uniform vec2 u_depths;
uniform float u_distance;
uniform bool u_perspective;
uniform float u_strength;
uniform float u_reach;  // pixels
out vec4 color;

float depth_at(ivec2 place) {
  float z = texelFetch(u_depth, clamp(place, ivec2(0), textureSize(u_depth, 0) - 1), 0).r;
  if (z >= 1.0) return 1e9;
  if (u_perspective) return log2(u_depths.x * u_depths.y / (u_depths.y - z * (u_depths.y - u_depths.x)));
  return mix(u_depths.x, u_depths.y, z) / u_distance * 1.4427;
}

void main() {
  ivec2 place = ivec2(gl_FragCoord.xy);
  color = texelFetch(u_colors, place, 0);
  if (u_strength == 0.0 || color.a == 0.0) return;
  float own = depth_at(place);
  float behind = 0.0;
  for (int i = 0; i < 8; ++i) {
    float angle = float(i) * 0.785398;
    ivec2 step = ivec2(round(vec2(cos(angle), sin(angle)) * u_reach));
    behind += min(max(0.0, own - depth_at(place + step)), 0.05);
  }
  color.rgb *= max(exp(-behind * u_strength), 0.35);
}`;
