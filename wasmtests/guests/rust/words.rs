// A guest in Rust that answers by the op of its input, as those in Go, C and
// AssemblyScript beside it do.

use std::sync::atomic::{AtomicU32, Ordering};

mod air {
    #[link(wasm_import_module = "air_v1")]
    extern "C" {
        pub fn input_read(dst: *mut u8, size: u32, offset: u32) -> i32;
        pub fn output_write(src: *const u8, size: u32) -> i32;
        pub fn tool_call(name: *const u8, name_size: u32, request: *const u8, size: u32) -> i32;
        pub fn result_read(dst: *mut u8, size: u32, offset: u32) -> i32;
        pub fn emit(kind: i32, payload: *const u8, size: u32) -> i32;
    }
}

mod wasi {
    #[repr(C)]
    pub struct Piece(pub *const u8, pub usize);

    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    extern "C" {
        pub fn fd_write(fd: i32, vector: *const Piece, count: u32, written: *mut u32) -> i32;
        pub fn random_get(dst: *mut u8, size: u32) -> i32;
        pub fn clock_time_get(clock: i32, precision: i64, now: *mut u64) -> i32;
    }
}

/// A result, or an error of the guest's own: both as JSON.
type Answer = Result<String, String>;

#[no_mangle]
pub extern "C" fn air_call(size: u32) -> i32 {
    static COUNT: AtomicU32 = AtomicU32::new(0); // of the calls that this instance has seen
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    let mut invocation = vec![0; size as usize];
    unsafe { air::input_read(invocation.as_mut_ptr(), size, 0) };
    let (json, status) = match run(member(&invocation, "input"), count) {
        Ok(json) => (json, 0),
        Err(json) => (json, 1),
    };
    match unsafe { air::output_write(json.as_ptr(), json.len() as u32) } {
        0 => status,
        _ => 2,
    }
}

fn run(input: &[u8], count: u32) -> Answer {
    let text = string(member(input, "text"));
    match string(member(input, "op")).as_str() {
        "words" => words(&text),
        "calls" => calls(number(member(input, "count")), number(member(input, "size"))),
        "loop" => loop {
            std::hint::spin_loop()
        },
        "fail" => Err(format!(r#"{{"code":"asked_to","message":{},"details":{{"op":"fail"}}}}"#, quoted(&text))),
        "emit" => emit(&text),
        "print" => print(&text),
        "random" => Ok(format!(r#"{{"differ":{}}}"#, random() != random())),
        "clock" => clock(),
        "count" => Ok(format!(r#"{{"count":{}}}"#, count)),
        _ => Err(r#"{"code":"bad_input","message":"unknown op"}"#.to_string()),
    }
}

/// Knows ASCII only: no sibling carries the tables of Unicode.
fn words(text: &str) -> Answer {
    let words = text.split(is_space).filter(|word| !word.is_empty()).count();
    Ok(format!(r#"{{"upper":{},"words":{}}}"#, quoted(&text.to_ascii_uppercase()), words))
}

/// Asks count times for a file whose name makes the request size bytes long, and counts
/// the bytes of the outputs.
fn calls(count: usize, size: usize) -> Answer {
    let request = format!(r#"{{"path":"{}"}}"#, "x".repeat(size.saturating_sub(11)));
    let mut bytes = 0;
    for _ in 0..count {
        bytes += member(&tool_call("fs.read", &request)?, "output").len();
    }
    Ok(format!(r#"{{"calls":{},"bytes":{}}}"#, count, bytes))
}

fn tool_call(name: &str, request: &str) -> Result<Vec<u8>, String> {
    let n = unsafe { air::tool_call(name.as_ptr(), name.len() as u32, request.as_ptr(), request.len() as u32) };
    if n < 0 {
        return Err(format!(r#"{{"code":"no_call","message":"no call was made","details":{{"code":{}}}}}"#, n));
    }
    let mut reply = vec![0; n as usize];
    unsafe { air::result_read(reply.as_mut_ptr(), n as u32, 0) };
    Ok(reply)
}

/// Uses each kind once.
fn emit(text: &str) -> Answer {
    let text = quoted(text);
    let payloads = [
        format!(r#"{{"level":"info","msg":{}}}"#, text),
        format!(r#"{{"fraction":0.5,"message":{}}}"#, text),
        text.clone(),
        format!(r#"{{"name":"noted","payload":{{"text":{}}}}}"#, text),
    ];
    for (kind, payload) in (0..).zip(&payloads) {
        unsafe { air::emit(kind, payload.as_ptr(), payload.len() as u32) };
    }
    Ok(r#"{"emitted":4}"#.to_string())
}

fn print(text: &str) -> Answer {
    let vector = [wasi::Piece(text.as_ptr(), text.len()), wasi::Piece("\n".as_ptr(), 1)];
    let mut written = 0;
    unsafe { wasi::fd_write(2, vector.as_ptr(), 2, &mut written) };
    Ok(r#"{"printed":true}"#.to_string())
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    unsafe { wasi::random_get(bytes.as_mut_ptr(), 8) };
    u64::from_le_bytes(bytes)
}

fn clock() -> Answer {
    let read = |clock| {
        let mut now = 0;
        unsafe { wasi::clock_time_get(clock, 0, &mut now) };
        now
    };
    let first = read(1);
    Ok(format!(r#"{{"set":{},"forward":{}}}"#, read(0) >= 1_735_689_600_000_000_000, read(1) >= first))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

// Reading JSON. What AIR hands over is valid; a missing value is the empty slice.

fn space(json: &[u8]) -> &[u8] {
    let n = json.iter().take_while(|&&c| is_space(c as char)).count();
    &json[n..]
}

/// Splits the value at the front off.
fn value(json: &[u8]) -> (&[u8], &[u8]) {
    let (mut at, mut depth) = (0, 0);
    loop {
        match json[at] {
            b'"' => {
                at += 1;
                while json[at] != b'"' {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        let ends = at == json.len() || is_space(json[at] as char) || b",:}]".contains(&json[at]);
        if depth == 0 && ends {
            return json.split_at(at);
        }
    }
}

fn member<'a>(json: &'a [u8], key: &str) -> &'a [u8] {
    let mut json = space(json);
    while matches!(json.first(), Some(b'{' | b',')) {
        json = space(&json[1..]);
        if json[0] == b'}' {
            break;
        }
        let (name, rest) = value(json);
        let (found, rest) = value(space(&space(rest)[1..]));
        if &name[1..name.len() - 1] == key.as_bytes() {
            return found;
        }
        json = space(rest);
    }
    &[]
}

fn number(json: &[u8]) -> usize {
    std::str::from_utf8(json).ok().and_then(|s| s.parse().ok()).unwrap_or(0)
}

fn string(json: &[u8]) -> String {
    if json.first() != Some(&b'"') {
        return String::new();
    }
    let text = String::from_utf8_lossy(&json[1..json.len() - 1]);
    let mut chars = text.chars();
    let mut units = Vec::new();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match chars.next().unwrap_or('\\') {
            'u' => chars.by_ref().take(4).fold(0, |n, c| n << 4 | c.to_digit(16).unwrap_or(0) as u16),
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            other => other as u16,
        });
    }
    String::from_utf16_lossy(&units)
}

/// Writes a string as JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            _ if c < ' ' => out += &format!("\\u{:04x}", c as u32),
            _ => out.push(c),
        }
    }
    out + "\""
}
