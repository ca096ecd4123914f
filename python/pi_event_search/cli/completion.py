"""Completion for shells, written from the tables of commands and options.

`eval "$(pi-event-search --completion bash)"` in `~/.bashrc`, the same with `zsh` in `~/.zshrc`;
`pi-event-search --completion fish | source` in fish's configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pi_event_search.cli.arguments import (
    COMMANDS,
    COMMON,
    PROGRAM,
    SHELLS,
    Command,
    Option,
    options_of,
)

_FUNCTION = "_" + PROGRAM.replace("-", "_")
_ALONE = ("--help", "--version", "--completion")
"""Flags that stand without a command."""


def completion_script(shell: str) -> str:
    """A script for one of the shells."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _bash() -> str:
    skipped = "|".join(option.flag for option in COMMON if option.metavar)
    lines = [
        f"# Completion of {PROGRAM} for bash.",
        f"{_FUNCTION}() {{",
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
        '    local command="" at words=""',
        "    for ((at = 1; at < COMP_CWORD; at++)); do",
        '        case "${COMP_WORDS[at]}" in',
        f"            {skipped}) ((at++)) ;;",
        "            -*) ;;",
        "            *) command=${COMP_WORDS[at]}; break ;;",
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$previous" in',
        *(f"        {line}" for line in _bash_values()),
        "    esac",
        '    case "$command" in',
        f'        "") words="{_words([*COMMANDS, *_ALONE, *_flags(COMMON)])}" ;;',
        *(
            f'        {name}) words="{_words(_flags(options_of(command)))}" ;;'
            for name, command in COMMANDS.items()
        ),
        "    esac",
        "    if [[ -z $command || $current == -* ]]; then",
        '        COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "    fi",
        "}",
        f"complete -F {_FUNCTION} {PROGRAM}",
    ]
    return "\n".join(lines) + "\n"


def _bash_values() -> Iterator[str]:
    """What follows an option that takes a value."""
    free: list[str] = []
    by_words: dict[str, list[str]] = {_words(SHELLS): ["--completion"]}
    paths: dict[str, list[str]] = {"DIR": [], "PATH": []}
    for option in _all_options():
        if option.values:
            by_words.setdefault(_words(option.values), []).append(option.flag)
        elif option.metavar is not None:
            paths.get(option.metavar, free).append(option.flag)
    for words, flags in by_words.items():
        yield f"{'|'.join(flags)})"
        yield f'    COMPREPLY=($(compgen -W "{words}" -- "$current")); return ;;'
    for metavar, action in (("DIR", "-d"), ("PATH", "-f")):
        yield f"{'|'.join(paths[metavar])})"
        # Names may hold blanks; bash 3.2 of macOS has neither mapfile nor compopt.
        yield "    local IFS=$'\\n'; compopt -o filenames 2>/dev/null"
        yield f'    COMPREPLY=($(compgen {action} -- "$current")); return ;;'
    yield f"{'|'.join(free)}) return ;;"


def _zsh() -> str:
    lines = [
        f"#compdef {PROGRAM}",
        f"{_FUNCTION}() {{",
        "    local -a commands=(",
        *(f"        {_quoted(f'{c.name}:{c.summary}')}" for c in COMMANDS.values()),
        "    )",
        "    local -i at=2",
        "    local command=",
        "    while ((at < CURRENT)); do",
        "        case $words[at] in",
        f"            {'|'.join(o.flag for o in COMMON if o.metavar)}) ((at++)) ;;",
        "            -*) ;;",
        "            *) command=$words[at]; break ;;",
        "        esac",
        "        ((at++))",
        "    done",
        "    case $command in",
        '        "")',
        "            _arguments \\",
        *(f"                {_zsh_spec(option)} \\" for option in COMMON),
        "                '--version[print the version]' \\",
        f"                '--completion[print completion for a shell]:shell:({_words(SHELLS)})' \\",
        "                '1: :{_describe command commands}' ;;",
    ]
    for name, command in COMMANDS.items():
        options = options_of(command)
        lines += [
            f"        {name})",
            "            words[at]=()",
            "            ((CURRENT--))",
            "            _arguments \\",
            *(f"                {_zsh_spec(option)} \\" for option in options),
            f"                '*:{_zsh_plain(_first_word(command))}: ' ;;",
        ]
    lines += [
        "    esac",
        "}",
        # Read as a file of $fpath it is called at once; evaluated in .zshrc it is registered.
        f'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then {_FUNCTION} "$@"',
        f"else compdef {_FUNCTION} {PROGRAM}; fi",
    ]
    return "\n".join(lines) + "\n"


def _zsh_spec(option: Option) -> str:
    many = "*" if option.many else ""
    spec = f"{many}{option.flag}[{_zsh_plain(_about(option))}]"
    if option.metavar:
        spec += f":{option.metavar}:{_zsh_values(option)}"
    return _quoted(spec)


def _zsh_values(option: Option) -> str:
    if option.values:
        return f"({_words(option.values)})"
    return {"DIR": "_files -/", "PATH": "_files"}.get(str(option.metavar), " ")


def _zsh_plain(text: str) -> str:
    """Text without the characters that a specification of zsh is made of."""
    return text.replace("[", "(").replace("]", ")").replace(":", "\\:")


def _fish() -> str:
    name = f"complete -c {PROGRAM}"
    before = f"not __fish_seen_subcommand_from {_words(COMMANDS)}"
    lines = [f"# Completion of {PROGRAM} for fish.", f"{name} -f"]
    lines += [
        f"{name} -n {_quoted(before)} -a {command.name} -d {_quoted(command.summary)}"
        for command in COMMANDS.values()
    ]
    lines.append(f"{name} -n {_quoted(before)} -l version -d {_quoted('print the version')}")
    shells = _quoted(_words(SHELLS))
    about = _quoted("print completion for a shell")
    lines.append(f"{name} -n {_quoted(before)} -l completion -x -a {shells} -d {about}")
    lines += [f"{name} {_fish_option(option)}" for option in COMMON]
    for command in COMMANDS.values():
        seen = _quoted(f"__fish_seen_subcommand_from {command.name}")
        for option in options_of(command):
            if option not in COMMON:
                lines.append(f"{name} -n {seen} {_fish_option(option)}")
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    parts = [f"-l {option.flag.removeprefix('--')}"]
    if option.values:
        parts.append(f"-x -a {_quoted(_words(option.values))}")
    elif option.metavar == "DIR":
        parts.append("-x -a '(__fish_complete_directories)'")
    elif option.metavar:
        parts.append("-r -F" if option.metavar == "PATH" else "-x")
    return " ".join([*parts, f"-d {_quoted(_about(option))}"])


def _about(option: Option) -> str:
    """What an option is; its values are offered anyway."""
    return option.argument.replace("_", " ") if option.values else option.help


def _all_options() -> Iterable[Option]:
    """Every option once: equal flags mean equal things in all commands."""
    options = (option for command in COMMANDS.values() for option in options_of(command))
    return {option.flag: option for option in options}.values()


def _first_word(command: Command) -> str:
    return command.words[0][0] if command.words else "nothing"


def _flags(options: Iterable[Option]) -> list[str]:
    return [option.flag for option in options]


def _words(words: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(words))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
