//! Whether a command line runs `pi-event-search`.
//!
//! Its output repeats other events, so such calls are told apart from ordinary ones. Decided by
//! position: a word is run when it stands where a shell looks for a command. Mentions as an
//! argument, in quotes, comments or here-documents are no run. Aliases, variables that hold a
//! command and scripts in files are beyond this.

mod command;
#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::str::Chars;

use command::Command;

/// Command lines inside command lines (`sh -c`) that are looked into, at most.
const SCRIPT_LIMIT: usize = 16;

/// Whether a command line, as given to a shell, runs `pi-event-search` or `python -m pi_event_search`.
///
/// Looks behind assignments, pipes, lists, subshells, substitutions, `sh -c`, and wrappers such as
/// `sudo`, `env`, `time`, `xargs`, `timeout`, `uv run`, `uvx` and `pipx run`.
pub fn runs_retrieval(command: &str) -> bool {
    // Most command lines are told apart at once.
    if !command.contains("search") {
        return false;
    }
    let mut scripts = vec![command.to_owned()];
    let mut next = 0;
    while next < scripts.len().min(SCRIPT_LIMIT) {
        let script = std::mem::take(&mut scripts[next]);
        if Lexer::new(&script).run(&mut scripts) {
            return true;
        }
        next += 1;
    }
    false
}

/// What the word that is being read is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Part of a command.
    Command,
    /// Target of a redirection.
    Redirection,
    /// Delimiter of a here-document.
    HereDocument,
}

/// One level of command substitution.
struct Frame {
    /// What ends it; `None` for the outermost level.
    close: Option<char>,
    command: Command,
    word: String,
    in_word: bool,
    in_double_quotes: bool,
    purpose: Purpose,
}

impl Frame {
    fn new(close: Option<char>) -> Self {
        Self {
            close,
            command: Command::default(),
            word: String::new(),
            in_word: false,
            in_double_quotes: false,
            purpose: Purpose::Command,
        }
    }

    fn push(&mut self, c: char) {
        self.word.push(c);
        self.in_word = true;
    }
}

/// Splits a command line into words, with a stack instead of recursion for substitutions.
struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    outer: Vec<Frame>,
    frame: Frame,
    /// Delimiters of here-documents whose bodies begin behind the next line feed.
    here_documents: Vec<String>,
    found: bool,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            chars: text.chars().peekable(),
            outer: Vec::new(),
            frame: Frame::new(None),
            here_documents: Vec::new(),
            found: false,
        }
    }

    fn run(mut self, scripts: &mut Vec<String>) -> bool {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => self.escaped(),
                '$' if self.chars.next_if_eq(&'(').is_some() => self.enter(')'),
                '`' if self.frame.close == Some('`') => self.leave(scripts),
                '`' => self.enter('`'),
                '"' => {
                    self.frame.in_double_quotes = !self.frame.in_double_quotes;
                    self.frame.in_word = true;
                }
                _ if self.frame.in_double_quotes => self.frame.push(c),
                _ => self.bare(c, scripts),
            }
            if self.found {
                return true;
            }
        }
        // Unclosed substitutions still run what they hold.
        self.end_word(scripts);
        while !self.found && !self.outer.is_empty() {
            self.leave(scripts);
            self.end_word(scripts);
        }
        self.found
    }

    /// A character outside of double quotes.
    fn bare(&mut self, c: char, scripts: &mut Vec<String>) {
        match c {
            '\'' => {
                self.frame.in_word = true;
                let quoted = self.chars.by_ref().take_while(|&c| c != '\'');
                self.frame.word.extend(quoted);
            }
            ' ' | '\t' | '\r' => self.end_word(scripts),
            '#' if !self.frame.in_word => while self.chars.next_if(|&c| c != '\n').is_some() {},
            ')' if self.frame.close == Some(')') => self.leave(scripts),
            '\n' => {
                self.end_command(scripts);
                self.skip_here_documents();
            }
            '&' if self.chars.next_if_eq(&'>').is_some() => self.redirect(scripts),
            '|' | ';' | '&' | '(' | ')' => self.end_command(scripts),
            '<' | '>' => self.redirect_or_here(c, scripts),
            _ => self.frame.push(c),
        }
    }

    fn escaped(&mut self) {
        // A line feed behind a backslash joins two lines.
        if let Some(c) = self.chars.next().filter(|&c| c != '\n') {
            self.frame.push(c);
        }
    }

    fn redirect_or_here(&mut self, c: char, scripts: &mut Vec<String>) {
        let doubled = self.chars.next_if_eq(&c).is_some();
        self.redirect(scripts);
        if c == '<' && doubled && self.chars.next_if_eq(&'<').is_none() {
            self.chars.next_if_eq(&'-');
            self.frame.purpose = Purpose::HereDocument;
        }
        // `2>&1` duplicates a descriptor; `>|` overrides a shell option; `<(` runs a command.
        self.chars.next_if(|&c| c == '&' || c == '|');
        if self.chars.peek() == Some(&'(') {
            self.frame.purpose = Purpose::Command;
        }
    }

    fn redirect(&mut self, scripts: &mut Vec<String>) {
        // Digits right in front name the descriptor.
        if self.frame.word.bytes().all(|b| b.is_ascii_digit()) {
            self.frame.word.clear();
            self.frame.in_word = false;
        }
        self.end_word(scripts);
        self.frame.purpose = Purpose::Redirection;
    }

    fn enter(&mut self, close: char) {
        self.frame.in_word = true;
        let outer = std::mem::replace(&mut self.frame, Frame::new(Some(close)));
        self.outer.push(outer);
    }

    fn leave(&mut self, scripts: &mut Vec<String>) {
        self.end_word(scripts);
        if let Some(outer) = self.outer.pop() {
            self.frame = outer;
        }
    }

    fn end_command(&mut self, scripts: &mut Vec<String>) {
        self.end_word(scripts);
        self.frame.command = Command::default();
        self.frame.purpose = Purpose::Command;
    }

    fn end_word(&mut self, scripts: &mut Vec<String>) {
        if !std::mem::take(&mut self.frame.in_word) {
            return;
        }
        let word = std::mem::take(&mut self.frame.word);
        match std::mem::replace(&mut self.frame.purpose, Purpose::Command) {
            Purpose::Command => self.found |= self.frame.command.take(word, scripts),
            Purpose::Redirection => {}
            Purpose::HereDocument => self.here_documents.push(word),
        }
    }

    fn skip_here_documents(&mut self) {
        for delimiter in std::mem::take(&mut self.here_documents) {
            loop {
                let line: String = self.chars.by_ref().take_while(|&c| c != '\n').collect();
                let over = self.chars.peek().is_none();
                if over || line.trim_matches(['\t', '\r']) == delimiter {
                    break;
                }
            }
        }
    }
}
