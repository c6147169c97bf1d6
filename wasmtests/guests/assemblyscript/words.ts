// A guest in AssemblyScript that answers by the op of its input, as those in Go, C and
// Rust beside it do.

@external("air_v1", "input_read") declare function input_read(dst: usize, size: u32, offset: u32): i32;
@external("air_v1", "output_write") declare function output_write(src: usize, size: u32): i32;
@external("air_v1", "tool_call") declare function tool_call(name: usize, nameSize: u32, request: usize, size: u32): i32;
@external("air_v1", "result_read") declare function result_read(dst: usize, size: u32, offset: u32): i32;
@external("air_v1", "emit") declare function emit(kind: i32, payload: usize, size: u32): i32;

@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(fd: i32, vector: usize, count: u32, written: usize): i32;
@external("wasi_snapshot_preview1", "random_get") declare function random_get(dst: usize, size: u32): i32;
@external("wasi_snapshot_preview1", "clock_time_get")
declare function clock_time_get(clock: i32, precision: i64, now: usize): i32;

let count = 0; // of the calls that this instance has seen
let status = 0; // what air_call returns

export function air_call(size: u32): i32 {
  count++;
  const invocation = new ArrayBuffer(size);
  input_read(changetype<usize>(invocation), size, 0);
  const answer = String.UTF8.encode(run(member(String.UTF8.decode(invocation), "input")));
  return output_write(changetype<usize>(answer), answer.byteLength) == 0 ? status : 2;
}

function run(input: string): string {
  const op = text(member(input, "op"));
  const given = text(member(input, "text"));
  if (op == "words") return words(given);
  if (op == "calls") return calls(number(member(input, "count")), number(member(input, "size")));
  if (op == "loop") while (true) count++;
  if (op == "fail") return fail('{"code":"asked_to","message":' + quoted(given) + ',"details":{"op":"fail"}}');
  if (op == "emit") return emitAll(quoted(given));
  if (op == "print") return print(given);
  if (op == "random") return '{"differ":' + (random() != random()).toString() + "}";
  if (op == "clock") return clock();
  if (op == "count") return '{"count":' + count.toString() + "}";
  return fail('{"code":"bad_input","message":"unknown op"}');
}

function fail(json: string): string {
  status = 1;
  return json;
}

// words knows ASCII only: no sibling carries the tables of Unicode.
function words(given: string): string {
  const upper: i32[] = [];
  let n = 0;
  let inside = false;
  for (let i = 0; i < given.length; i++) {
    const c = given.charCodeAt(i);
    if (!inside && !isSpace(c)) n++;
    inside = !isSpace(c);
    upper.push(c >= 0x61 && c <= 0x7a ? c - 0x20 : c);
  }
  return '{"upper":' + quoted(String.fromCharCodes(upper)) + ',"words":' + n.toString() + "}";
}

// calls asks n times for a file whose name makes the request size bytes long, and counts
// the bytes of the outputs.
function calls(n: i32, size: i32): string {
  const name = String.UTF8.encode("fs.read");
  const request = String.UTF8.encode('{"path":"' + "x".repeat(max(size - 11, 0)) + '"}');
  let bytes: i64 = 0;
  for (let i = 0; i < n; i++) {
    const code = tool_call(changetype<usize>(name), name.byteLength, changetype<usize>(request), request.byteLength);
    if (code < 0) {
      return fail('{"code":"no_call","message":"no call was made","details":{"code":' + code.toString() + "}}");
    }
    const reply = new ArrayBuffer(code);
    result_read(changetype<usize>(reply), code, 0);
    bytes += String.UTF8.byteLength(member(String.UTF8.decode(reply), "output"));
  }
  return '{"calls":' + n.toString() + ',"bytes":' + bytes.toString() + "}";
}

// emitAll uses each kind once.
function emitAll(given: string): string {
  emitText(0, '{"level":"info","msg":' + given + "}");
  emitText(1, '{"fraction":0.5,"message":' + given + "}");
  emitText(2, given);
  emitText(3, '{"name":"noted","payload":{"text":' + given + "}}");
  return '{"emitted":4}';
}

function emitText(kind: i32, payload: string): void {
  const bytes = String.UTF8.encode(payload);
  emit(kind, changetype<usize>(bytes), bytes.byteLength);
}

function print(given: string): string {
  const line = String.UTF8.encode(given + "\n");
  const vector = new StaticArray<u32>(3);
  vector[0] = changetype<u32>(line);
  vector[1] = line.byteLength;
  fd_write(2, changetype<usize>(vector), 1, changetype<usize>(vector) + 8);
  return '{"printed":true}';
}

function random(): u64 {
  const bytes = new StaticArray<u64>(1);
  random_get(changetype<usize>(bytes), 8);
  return bytes[0];
}

function read(clock: i32): u64 {
  const now = new StaticArray<u64>(1);
  clock_time_get(clock, 0, changetype<usize>(now));
  return now[0];
}

function clock(): string {
  const first = read(1);
  const set = read(0) >= 1_735_689_600_000_000_000;
  return '{"set":' + set.toString() + ',"forward":' + (read(1) >= first).toString() + "}";
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// Reading JSON. What AIR hands over is valid; a missing value is the empty string.

function isSpace(c: i32): bool {
  return c == SPACE || c == TAB || c == LF || c == CR;
}

function space(json: string, at: i32): i32 {
  while (at < json.length && isSpace(json.charCodeAt(at))) at++;
  return at;
}

function opens(c: i32): bool {
  return c == 0x7b || c == 0x5b; // { and [
}

function closes(c: i32): bool {
  return c == 0x7d || c == 0x5d; // } and ]
}

function endsValue(json: string, at: i32): bool {
  if (at >= json.length) return true;
  const c = json.charCodeAt(at);
  return isSpace(c) || closes(c) || c == 0x2c || c == 0x3a; // , and :
}

// skip returns where the value at a place ends.
function skip(json: string, at: i32): i32 {
  let depth = 0;
  do {
    const c = json.charCodeAt(at);
    if (c == QUOTE) {
      for (at++; json.charCodeAt(at) != QUOTE; at++) if (json.charCodeAt(at) == BACKSLASH) at++;
    } else if (opens(c)) depth++;
    else if (closes(c)) depth--;
    at++;
  } while (depth > 0 || !endsValue(json, at));
  return at;
}

function member(json: string, key: string): string {
  let at = space(json, 0);
  while (json.charAt(at) == "{" || json.charAt(at) == ",") {
    const name = space(json, at + 1);
    if (json.charAt(name) == "}") break;
    const nameEnd = skip(json, name);
    const value = space(json, space(json, nameEnd) + 1);
    const valueEnd = skip(json, value);
    if (json.substring(name + 1, nameEnd - 1) == key) return json.substring(value, valueEnd);
    at = space(json, valueEnd);
  }
  return "";
}

function number(json: string): i32 {
  return json.length > 0 ? I32.parseInt(json) : 0;
}

// text reads a string. Halves of a character find each other in it by themselves.
function text(json: string): string {
  const units: i32[] = [];
  for (let i = 1; i < json.length - 1; i++) {
    let c = json.charCodeAt(i);
    if (c == BACKSLASH) {
      c = json.charCodeAt(++i);
      if (c == 0x75) { // u
        c = I32.parseInt(json.substr(i + 1, 4), 16);
        i += 4;
      } else if (c == 0x62) c = 0x08; // b
      else if (c == 0x66) c = 0x0c; // f
      else if (c == 0x6e) c = LF; // n
      else if (c == 0x72) c = CR; // r
      else if (c == 0x74) c = TAB; // t
    }
    units.push(c);
  }
  return String.fromCharCodes(units);
}

// quoted writes a string as JSON.
function quoted(given: string): string {
  const units: i32[] = [QUOTE];
  for (let i = 0; i < given.length; i++) {
    const c = given.charCodeAt(i);
    if (c < SPACE) {
      const escape = "\\u00" + (c < 0x10 ? "0" : "1") + (c & 15).toString(16);
      for (let k = 0; k < escape.length; k++) units.push(escape.charCodeAt(k));
      continue;
    }
    if (c == QUOTE || c == BACKSLASH) units.push(BACKSLASH);
    units.push(c);
  }
  units.push(QUOTE);
  return String.fromCharCodes(units);
}
