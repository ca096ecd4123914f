//! The grammar of JSON once more: by recursion, from the standard, and for small inputs.

/// Deeper nesting is not judged: this judge would need too much stack.
const DEEPEST: usize = 200;

/// Whether the bytes are one JSON value with white space around it; `None` when it is too deep.
///
/// Bytes that are not UTF-8 are allowed inside strings, where a lossy decoder mends them.
pub fn is_json(bytes: &[u8]) -> Option<bool> {
    let mut judge = Judge {
        bytes,
        at: 0,
        too_deep: false,
    };
    judge.space();
    let good = judge.value(0).is_some();
    judge.space();
    (!judge.too_deep).then_some(good && judge.at == bytes.len())
}

struct Judge<'a> {
    bytes: &'a [u8],
    at: usize,
    too_deep: bool,
}

impl Judge<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, what: &[u8]) -> Option<()> {
        self.bytes[self.at..]
            .starts_with(what)
            .then(|| self.at += what.len())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            self.too_deep = true;
            return None;
        }
        match self.peek()? {
            b'{' => self.items(b'}', depth, true),
            b'[' => self.items(b']', depth, false),
            b'"' => self.string(),
            b't' => self.expect(b"true"),
            b'f' => self.expect(b"false"),
            b'n' => self.expect(b"null"),
            _ => self.number(),
        }
    }

    fn items(&mut self, close: u8, depth: usize, named: bool) -> Option<()> {
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Some(());
        }
        loop {
            self.space();
            if named {
                self.string()?;
                self.space();
                self.expect(b":")?;
                self.space();
            }
            self.value(depth + 1)?;
            self.space();
            if self.peek()? == close {
                self.at += 1;
                return Some(());
            }
            self.expect(b",")?;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b"\"")?;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let byte = self.peek()?;
        self.at += 1;
        if byte != b'u' {
            return b"\"\\/bfnrt".contains(&byte).then_some(());
        }
        for _ in 0..4 {
            self.peek().filter(u8::is_ascii_hexdigit)?;
            self.at += 1;
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.expect(b"-");
        if self.expect(b"0").is_none() {
            self.digits()?;
        }
        if self.expect(b".").is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
