#!/bin/sh
# Says in one sentence what a machine lacks before a long build finds out in a hundred lines.
#
#   tools/preflight.sh python   prints the Python to build the environment with
#   tools/preflight.sh rust     cargo, its version, a C compiler
#   tools/preflight.sh lint     rustfmt and clippy, added through rustup where it can
#   tools/preflight.sh fuzz     a nightly compiler and cargo-fuzz
set -eu

min_rust_minor=88

fail() {
    printf 'pi-event-search: %s\n' "$*" >&2
    exit 1
}

check_system() {
    case "$(uname -s)" in
        Linux | Darwin) ;;
        *) fail "this project runs on Linux and macOS; $(uname -s) is not supported." ;;
    esac
}

new_enough() {
    "$1" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || fail "PYTHON=$PYTHON does not start, or is older than Python 3.11."
        echo "$PYTHON"
        return
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        # Started, not only found: a version manager leaves names behind that start nothing.
        if new_enough "$name"; then
            echo "$name"
            return
        fi
    done
    fail "Python 3.11 or newer is needed and none was found; install one, or name it: make PYTHON=/path/to/python3."
}

check_venv_module() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
        fail "$1 has no venv module; install it (Debian and Ubuntu: the package python3-venv)."
}

check_rust() {
    command -v cargo >/dev/null 2>&1 ||
        fail "cargo is needed and was not found; install Rust 1.$min_rust_minor or newer (https://rustup.rs)."
    version=$(rustc --version 2>/dev/null) || fail "cargo was found but rustc does not start; install a Rust toolchain."
    minor=$(printf '%s\n' "$version" | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
    if [ -n "$minor" ] && [ "$minor" -lt "$min_rust_minor" ]; then
        fail "Rust 1.$min_rust_minor or newer is needed; this is $version (rustup update brings a newer one)."
    fi
    "${CC:-cc}" --version >/dev/null 2>&1 ||
        fail "a C compiler is needed and ${CC:-cc} does not start; install one (Debian and Ubuntu: build-essential, macOS: xcode-select --install)."
}

check_lint() {
    for part in rustfmt clippy; do
        case "$part" in rustfmt) command=fmt ;; *) command=clippy ;; esac
        cargo "$command" --version >/dev/null 2>&1 && continue
        command -v rustup >/dev/null 2>&1 ||
            fail "$part is needed for the checks and was not found; install it beside cargo."
        rustup component add "$part" ||
            fail "$part is needed for the checks and rustup could not add it."
    done
}

check_fuzz() {
    cargo +nightly --version >/dev/null 2>&1 ||
        fail "fuzzing needs a nightly compiler; rustup toolchain install nightly adds one."
    cargo fuzz --version >/dev/null 2>&1 ||
        fail "fuzzing needs cargo-fuzz; cargo install cargo-fuzz adds it."
}

check_system
case "${1:-}" in
    python)
        python=$(find_python)
        check_venv_module "$python"
        echo "$python"
        ;;
    rust) check_rust ;;
    lint) check_lint ;;
    fuzz) check_fuzz ;;
    *) fail "usage: tools/preflight.sh python|rust|lint|fuzz" ;;
esac
