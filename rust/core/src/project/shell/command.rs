//! The words of one simple command, in order.

/// Something in front of the command that is really run.
struct Wrapper {
    /// Its name, and subcommands that must follow for it to be one.
    name: &'static str,
    subcommands: &'static [&'static str],
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
    /// Words of its own between its options and the command.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    subcommands: &'static [&'static str],
    with_value: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        subcommands,
        with_value,
        operands,
    }
}

const UV_VALUES: &[&str] = &[
    "--with",
    "--with-editable",
    "--with-requirements",
    "--from",
    "--python",
    "-p",
    "--project",
    "--directory",
    "--package",
    "--extra",
    "--group",
    "--env-file",
    "--index-url",
];

const WRAPPERS: [Wrapper; 21] = [
    wrapper(
        "sudo",
        &[],
        &["-u", "-g", "-h", "-p", "-C", "-D", "-T", "-U"],
        0,
    ),
    wrapper("doas", &[], &["-u", "-C"], 0),
    wrapper("env", &[], &["-u", "-C", "--unset", "--chdir"], 0),
    wrapper("time", &[], &["-f", "-o"], 0),
    wrapper("nohup", &[], &[], 0),
    wrapper("setsid", &[], &[], 0),
    wrapper("exec", &[], &["-a"], 0),
    wrapper("command", &[], &[], 0),
    wrapper("nice", &[], &["-n"], 0),
    wrapper("ionice", &[], &["-c", "-n"], 0),
    wrapper("stdbuf", &[], &["-i", "-o", "-e"], 0),
    wrapper("timeout", &[], &["-k", "-s"], 1),
    wrapper("xargs", &[], &["-n", "-I", "-P", "-L", "-d", "-a", "-s"], 0),
    wrapper("uvx", &[], UV_VALUES, 0),
    wrapper("uv", &["tool", "run"], UV_VALUES, 0),
    wrapper("uv", &["run"], UV_VALUES, 0),
    wrapper("pipx", &["run"], &["--spec", "--python"], 0),
    wrapper("poetry", &["run"], &[], 0),
    wrapper("pdm", &["run"], &[], 0),
    wrapper("hatch", &["run"], &[], 0),
    wrapper("rye", &["run"], &[], 0),
];

/// Words of shell grammar behind which a command begins.
const KEYWORDS: [&str; 10] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "coproc",
];
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// What the next word means.
#[derive(Default)]
enum State {
    /// The command itself, perhaps after assignments.
    #[default]
    Position,
    /// Subcommands of a possible wrapper, as far as they were given.
    Subcommands(&'static str, Vec<String>),
    /// Options and operands of a wrapper.
    Options(&'static Wrapper, usize),
    /// The value of a wrapper's option.
    Value(&'static Wrapper, usize),
    /// Options of Python.
    Python,
    /// The value of an option of Python.
    PythonValue,
    /// The module that Python runs.
    Module,
    /// Options of a shell.
    Shell,
    /// A command line for another shell.
    Script,
    /// Nothing that would be run.
    Arguments,
}

/// Follows one simple command word by word.
#[derive(Default)]
pub(super) struct Command(State);

impl Command {
    /// Takes the next word, unquoted. True when it is `pi-event-search` being run. Command lines
    /// for another shell are added to `scripts`.
    pub(super) fn take(&mut self, word: String, scripts: &mut Vec<String>) -> bool {
        let option = word.starts_with('-');
        self.0 = match std::mem::take(&mut self.0) {
            State::Subcommands(name, given) => subcommand(name, given, word),
            State::Options(wrapper, left) if option => match word.as_str() {
                "-m" | "--module" if wrapper.name == "uv" => State::Module,
                name if wrapper.with_value.contains(&name) => State::Value(wrapper, left),
                _ => State::Options(wrapper, left),
            },
            State::Options(wrapper, left) if left > 0 => State::Options(wrapper, left - 1),
            State::Position | State::Options(..) => return self.at_position(&word),
            State::Value(wrapper, left) => State::Options(wrapper, left),
            State::Python if option => match word.as_str() {
                "-m" => State::Module,
                "-c" => State::Arguments,
                "-W" | "-X" => State::PythonValue,
                joined => {
                    self.0 = State::Python;
                    return joined.strip_prefix("-m").is_some_and(is_module);
                }
            },
            State::PythonValue => State::Python,
            State::Module => {
                self.0 = State::Arguments;
                return is_module(&word);
            }
            State::Shell if option && word.ends_with('c') => State::Script,
            State::Shell if option => State::Shell,
            // A script file given to an interpreter.
            State::Python | State::Shell => {
                self.0 = State::Arguments;
                return is_program(base_name(&word));
            }
            State::Script => {
                scripts.push(word);
                State::Arguments
            }
            State::Arguments => State::Arguments,
        };
        false
    }

    fn at_position(&mut self, word: &str) -> bool {
        let name = base_name(word);
        self.0 = State::Arguments;
        if is_program(name) {
            return true;
        }
        if KEYWORDS.contains(&word) || is_assignment(word) {
            self.0 = State::Position;
        } else if name.starts_with("python") {
            self.0 = State::Python;
        } else if SHELLS.contains(&name) {
            self.0 = State::Shell;
        } else if name == "eval" {
            self.0 = State::Script;
        } else if let Some(wrapper) = WRAPPERS.iter().find(|w| w.name == name) {
            self.0 = if wrapper.subcommands.is_empty() {
                State::Options(wrapper, wrapper.operands)
            } else {
                State::Subcommands(wrapper.name, Vec::new())
            };
        }
        false
    }
}

fn subcommand(name: &'static str, mut given: Vec<String>, word: String) -> State {
    if word.starts_with('-') {
        return State::Subcommands(name, given);
    }
    given.push(word);
    let mut candidates = WRAPPERS.iter().filter(|w| w.name == name);
    if let Some(whole) = candidates.clone().find(|w| w.subcommands == given) {
        return State::Options(whole, whole.operands);
    }
    if candidates.any(|w| w.subcommands.iter().zip(&given).all(|(a, b)| a == b)) {
        return State::Subcommands(name, given);
    }
    State::Arguments
}

/// The last part of a path, with the separators of either family of systems.
fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// `pi-event-search`, perhaps with a version or extras as package runners take them.
fn is_program(name: &str) -> bool {
    let plain = name.split(['@', '=', '[', '<', '>', '~']).next();
    plain == Some("pi-event-search")
}

fn is_module(name: &str) -> bool {
    name.split('.').next() == Some("pi_event_search")
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
