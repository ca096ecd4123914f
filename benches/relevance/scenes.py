"""The stories that hold the answers: short dialogs between a person and an agent, and what ran.

Every step may name the queries that should lead to it, each with its class. The steps are written
as such things go: a question, searches whose output repeats the words of the question, a cause, a
change, a conclusion. So the words of a query stand in several events, and one of them is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Query = tuple[str, str]
"""Class and text."""


@dataclass(frozen=True)
class Step:
    """One event. `kind` is u (user), a (assistant), c (tool call), r (its result), b (bash)."""

    kind: str
    text: str
    queries: tuple[Query, ...] = ()
    tool: str = "bash"
    arguments: dict[str, str] = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True)
class Scene:
    """One dialog, in one project."""

    project: str
    steps: tuple[Step, ...]


def u(text: str, *queries: Query) -> Step:
    """Something the person says."""
    return Step("u", text, queries)


def a(text: str, *queries: Query) -> Step:
    """Something the agent says."""
    return Step("a", text, queries)


def s(text: str, *queries: Query) -> Step:
    """The summary that a compaction leaves."""
    return Step("s", text, queries)


def run(command: str, *queries: Query) -> Step:
    """The agent runs a command."""
    return Step("c", "", queries, "bash", {"command": command})


def edit(path: str, old: str, new: str, *queries: Query) -> Step:
    """The agent changes a file."""
    return Step("c", "", queries, "edit", {"path": path, "oldText": old, "newText": new})


def read(path: str, *queries: Query) -> Step:
    """The agent reads a file."""
    return Step("c", "", queries, "read", {"path": path})


def out(text: str, *queries: Query) -> Step:
    """What the call before gave."""
    return Step("r", text, queries)


def fail(text: str, *queries: Query) -> Step:
    """What the call before failed with."""
    return Step("r", text, queries, failed=True)


def typed(command: str, output: str, *queries: Query) -> Step:
    """A command the person runs beside the agent."""
    return Step("b", output, queries, "bash", {"command": command})


SCENES: tuple[Scene, ...] = (
    Scene("ferry", (
        u("A passenger was charged twice for the 07:40 crossing. Find out how that can happen.",
          ("prose", "passenger charged twice")),
        run("grep -rn 'charge' booking | head -40"),
        out("booking/pay.py:31:def charge(order):\nbooking/pay.py:58:    charge(order)  # retry\n"
            "booking/pay.py:90:def charge_twice_guard(order):\nbooking/mail.py:12:# charged mail"),
        read("booking/pay.py"),
        out("def charge(order):\n    try:\n        return gateway.post('/charges', order)\n"
            "    except GatewayTimeout:\n        return gateway.post('/charges', order)\n"),
        a("The retry is the cause: on a GatewayTimeout we post the same charge again without an "
          "idempotency key, and the gateway had already accepted the first one.",
          ("prose", "retry idempotency key cause"), ("identifier", "GatewayTimeout")),
        edit("booking/pay.py", "gateway.post('/charges', order)",
             "gateway.post('/charges', order, key=order.idempotency_key)",
             ("path", "booking/pay.py idempotency_key"), ("identifier", "idempotency_key")),
        out("Successfully replaced 2 block(s) in booking/pay.py."),
        a("Both posts now carry the order's key, so a second one is answered with the first "
          "charge."),
    )),
    Scene("ferry", (
        u("The staging deploy hangs at the migration step, please look."),
        run("make migrate ENV=staging"),
        fail("applying 0042_seat_map.sql\nERROR:  canceling statement due to lock timeout\n"
             "CONTEXT:  while updating tuple (0,7) in relation \"seats\"\nmake: *** [migrate] "
             "Error 2",
             ("error", "canceling statement due to lock timeout"),
             ("path", "0042_seat_map.sql")),
        run("psql staging -c \"select pid, query from pg_stat_activity where state <> 'idle'\"",
            ("command", "psql pg_stat_activity")),
        out(" pid  | query\n------+-------------------------------\n 4711 | VACUUM FULL seats\n"),
        a("A nightly VACUUM FULL holds the table. I would move the migration behind it rather than "
          "raise the lock timeout.", ("phrase", '"VACUUM FULL"')),
        u("Fine, but never run VACUUM FULL on seats during the day again; write that down."),
        s("## Decisions\n- VACUUM FULL on seats runs at night only, never by day.\n"
          "- Migration 0042 waits for it.\n## Open\n- alert when a lock is held over a minute",
          ("prose", "decisions vacuum night only")),
    )),
    Scene("ferry", (
        u("Upgrade the payment client to 4.2.1, they fixed the proxy bug there."),
        run("uv lock --upgrade-package tollbooth"),
        fail("  x No solution found when resolving dependencies:\n  `-> tollbooth==4.2.1 depends "
             "on "
             "httpcore>=1.2 and booking depends on httpcore<1.1",
             ("version", "tollbooth==4.2.1"), ("error", '"No solution found"')),
        a("4.2.1 wants httpcore 1.2 and we pin below 1.1 because of the keep-alive leak. The leak "
          "was "
          "fixed in httpcore 1.1.3, so the pin can go.",
          ("version", "httpcore 1.1.3"), ("prose", "keep-alive leak pin")),
        edit("pyproject.toml", '"httpcore<1.1"', '"httpcore>=1.2"', ("config", "httpcore>=1.2")),
        out("Successfully replaced 1 block(s) in pyproject.toml."),
        run("uv lock && uv sync", ("command", "uv lock && uv sync")),
        out("Resolved 84 packages in 1.2s\nUpdated tollbooth v4.0.2 -> v4.2.1\n"),
    )),
    Scene("kiln", (
        u("The kiln overshoots by 40 degrees when it comes out of the soak. Why?",
          ("prose", "kiln overshoots soak")),
        run("rg -n 'soak' firmware/src"),
        out("firmware/src/ramp.rs:77:    State::Soak { until } => {\nfirmware/src/ramp.rs:91:    "
            "// leaving soak\nfirmware/src/pid.rs:12:/// integral is kept over a soak\n"),
        read("firmware/src/pid.rs"),
        out("pub struct PidController {\n    kp: f32,\n    ki: f32,\n    integral: f32,\n}\n"
            "impl PidController {\n    pub fn resetIntegral(&mut self) { self.integral = 0.0; "
            "}\n}\n",
            ("identifier", "PidController")),
        a("Integral windup: during the soak the error never reaches zero, the integral grows for "
          "an "
          "hour and then pushes the heater. resetIntegral() exists and nothing calls it.",
          ("phrase", '"integral windup"'), ("identifier", "resetIntegral")),
        edit("firmware/src/ramp.rs", "State::Soak { until } => {",
             "State::Soak { until } => {\n            self.pid.resetIntegral();",
             ("path", "ramp.rs State::Soak")),
        out("Successfully replaced 1 block(s) in firmware/src/ramp.rs."),
        run("cargo test -p kiln-firmware ramp", ("command", "cargo test kiln-firmware ramp")),
        out("running 14 tests\n..............\ntest result: ok. 14 passed; 0 failed"),
        a("The simulated overshoot is 3 degrees now."),
    )),
    Scene("kiln", (
        u("The build fails since this morning."),
        run("cargo build --release --target thumbv7em-none-eabihf",
            ("command", "--target thumbv7em-none-eabihf")),
        fail("error[E0277]: the trait bound `Thermocouple: Send` is not satisfied\n  --> "
             "firmware/src/sense.rs:48:17\n   |\n48 |     spawn(move || sensor.poll());\n"
             "   |     ----- required by a bound introduced by this call",
             ("error", "error[E0277] Thermocouple Send"), ("path", "firmware/src/sense.rs:48")),
        a("Thermocouple holds a raw pointer to the SPI register since commit 3fa94c1; wrap it in a "
          "critical section instead of sending it to another task.",
          ("hash", "3fa94c1"), ("prose", "raw pointer SPI register")),
        run("git log --oneline -5 firmware/src/sense.rs"),
        out("3fa94c1 sense: read the register directly\n88d01be sense: average of eight\n"
            "c2207aa sense: MAX31855 instead of MAX6675\n",
            ("hash", "c2207aa"), ("identifier", "MAX31855")),
    )),
    Scene("kiln", (
        u("Set the watchdog so that a hung controller switches the heater off."),
        a("I will use the independent watchdog with a period of 512 ms and feed it from the main "
          "loop "
          "only.", ("config", "watchdog 512 ms")),
        edit("firmware/memory.x", "FLASH : ORIGIN = 0x08000000", "FLASH : ORIGIN = 0x08004000",
             ("config", "FLASH ORIGIN 0x08004000")),
        out("Successfully replaced 1 block(s) in firmware/memory.x."),
        run("probe-rs run --chip STM32F411 target/kiln", ("identifier", "STM32F411")),
        fail("Error: Connecting to the chip was unsuccessful\n\nCaused by:\n    "
             "JtagNoDeviceConnected",
             ("error", "JtagNoDeviceConnected")),
        typed("lsusb | grep -i st-link", "Bus 001 Device 009: ID 0483:374b STMicroelectronics "
              "ST-LINK/V2.1",
              ("hash", "0483:374b")),
        u("It was the cable. Works now."),
        a("Good: with the loop stopped by hand the heater went off after half a second, as meant.",
          ("prose", "heater off half a second")),
    )),
    Scene("herbarium", (
        u("Thumbnails of portrait photos come out sideways.",
          ("prose", "portrait thumbnails sideways")),
        run("grep -rn 'orientation' web/src"),
        out("web/src/image/exif.ts:9:export const orientation = "
            "0x0112\nweb/src/image/thumbnail.ts:4:"
            "// portrait thumbnails sideways? orientation is applied by the browser\n"),
        read("web/src/image/thumbnail.ts"),
        out("export async function makeThumbnail(file: File) {\n  const bitmap = await "
            "createImageBitmap(file)\n  return draw(bitmap, 320)\n}\n",
            ("identifier", "makeThumbnail")),
        a("createImageBitmap ignores the EXIF orientation unless it is given imageOrientation: "
          "'from-image'. That is why only portrait photos are wrong.",
          ("config", "imageOrientation 'from-image'"), ("phrase", '"EXIF orientation"')),
        edit("web/src/image/thumbnail.ts", "createImageBitmap(file)",
             "createImageBitmap(file, { imageOrientation: 'from-image' })",
             ("path", "thumbnail.ts imageOrientation")),
        out("Successfully replaced 1 block(s) in web/src/image/thumbnail.ts."),
    )),
    Scene("herbarium", (
        u("tsc complains after the merge."),
        run("npx tsc --noEmit", ("command", "npx tsc --noEmit")),
        fail("web/src/catalog/useSpecimen.ts(22,9): error TS2345: Argument of type 'string | "
             "undefined' is not assignable to parameter of type 'SpecimenId'.",
             ("error", "TS2345"), ("identifier", "SpecimenId"), ("path", "useSpecimen.ts(22,9)")),
        a("useSpecimen is called before the route has its id; guard it with skipToken instead of "
          "casting.", ("identifier", "skipToken")),
        u("Agreed. No casts in this repository, ever.", ("phrase", '"no casts"')),
    )),
    Scene("herbarium", (
        u("The label printer shows boxes instead of ü and ş."),
        a("The font on the printer is CP437; ş is not in it. Either send the label as a bitmap or "
          "install DejaVu Sans Mono on the printer.", ("identifier", "CP437"),
          ("prose", "label printer font bitmap")),
        u("Bitmap then. Müller and Şahin are happy with 203 dpi.", ("prose", "sahin muller dpi")),
        run("lpr -o raw -P zebra label.zpl", ("command", "lpr -o raw")),
        fail("lpr: Error - The printer or class does not exist.",
             ("error", "printer or class does not exist")),
        typed("lpstat -p", "printer Zebra_ZD420 is idle.  enabled since Tue",
              ("identifier", "Zebra_ZD420")),
    )),
    Scene("tram", (
        u("Line 6 shows departures that do not run on public holidays."),
        run("grep -rn 'holiday' feed/"),
        out("feed/calendar.go:18:// public holidays\nfeed/calendar.go:40:func isHoliday(day "
            "time.Time) "
            "bool {\nfeed/calendar_test.go:9:func TestIsHolidayOnLine6(t *testing.T) {\n"),
        a("calendar_dates.txt has exception_type 2 for them, and we read only type 1, so removals "
          "are "
          "ignored.", ("config", "exception_type 2"), ("path", "calendar_dates.txt"),
          ("identifier", "exception_type")),
        edit("feed/calendar.go", "if row.ExceptionType == 1 {", "switch row.ExceptionType {",
             ("identifier", "ExceptionType")),
        out("Successfully replaced 1 block(s) in feed/calendar.go."),
        run("go test ./feed/... -run TestRemovedDepartures -count=1",
            ("command", "go test TestRemovedDepartures")),
        fail("--- FAIL: TestRemovedDepartures (0.00s)\n    calendar_test.go:61: 2026-05-01 line "
             "6: got "
             "41 departures, want 0\npanic: runtime error: index out of range [3] with length 3",
             ("error", '"index out of range [3]"'), ("version", "2026-05-01")),
        a("The slice of removals is one short: it is filled before the last row is read. Fixed by "
          "reading all rows first."),
    )),
    Scene("tram", (
        u("The realtime poller eats 2 GB after a week."),
        run("go tool pprof -top http://localhost:6060/debug/pprof/heap",
            ("command", "go tool pprof heap"), ("url", "localhost:6060/debug/pprof/heap")),
        out("Showing nodes accounting for 1.91GB, 97.2% of 1.96GB total\n      flat  flat%\n    "
            "1.72GB "
            "87.8%  tram/realtime.(*Poller).rememberTrip\n",
            ("identifier", "rememberTrip")),
        a("rememberTrip keeps every trip for ever: the map is keyed by trip and date and nothing "
          "removes yesterday. I will drop trips that ended over three hours ago.",
          ("prose", "trips ended three hours ago")),
        s("The poller's memory leak was the map of trips in realtime.Poller; entries are now "
          "dropped "
          "three hours after the trip. Deployed as tram-api v2.14.0.",
          ("version", "tram-api v2.14.0"), ("prose", "poller memory leak")),
    )),
    Scene("tram", (
        u("Mail from Ola: the feed validator rejects us, see "
          "https://validator.example.org/reports/88231",
          ("url", "validator.example.org/reports/88231"), ("prose", "feed validator Ola")),
        run("curl -sS https://validator.example.org/reports/88231.json | jq .errors",
            ("url", "https://validator.example.org/reports/88231.json"),
            ("command", "curl jq .errors")),
        out('[{"code": "stop_without_location", "count": 3, "sample": "stop_id=de:0815:77"}]',
            ("identifier", "stop_without_location"), ("hash", "de:0815:77")),
        a("Three stops have no coordinates; they were added by hand in spring. I ask Ola for "
          "them."),
    )),
    Scene("press", (
        u("首页的日期显示成英文了，请改成中文格式。", ("cjk", "首页 日期"), ("cjk", "中文格式")),
        run("rg -n 'formatDate' theme"),
        out("theme/date.js:3:export function formatDate(value) {\ntheme/index.njk:14:{{ page.date "
            "| "
            "formatDate }}\n"),
        a("日期格式取自构建机器的区域设置。我会在 formatDate 里固定使用 zh-CN。",
          ("cjk", "区域设置"), ("cjk", "日期格式 formatDate"), ("config", "zh-CN")),
        edit("theme/date.js", "toLocaleDateString()", "toLocaleDateString('zh-CN')"),
        out("Successfully replaced 1 block(s) in theme/date.js."),
        u("很好。顺便修改File名，不要有空格。", ("cjk", "修改File名")),
    )),
    Scene("press", (
        u("検索インデックスの生成が遅すぎます。原因を調べてください。",
          ("cjk", "検索インデックス"), ("cjk", "生成が遅")),
        run("node --cpu-prof build.mjs", ("command", "node --cpu-prof")),
        out("build finished in 184.2s\nwrote CPU.20260402.profile"),
        a("形態素解析の辞書を記事ごとに読み込んでいます。一度だけ読み込めば十分です。",
          ("cjk", "形態素解析"), ("cjk", "辞書を記事ごと")),
        a("完了しました。184秒から9秒になりました。", ("cjk", "184秒から9秒")),
    )),
    Scene("press", (
        u("한국어 글의 줄바꿈이 단어 중간에서 일어납니다.", ("cjk", "줄바꿈"),
          ("cjk", "단어 중간")),
        a("word-break: keep-all 을 쓰면 단어 단위로 줄이 바뀝니다.",
          ("config", "word-break: keep-all"), ("cjk", "단어 단위로")),
        edit("theme/base.css", "word-break: normal", "word-break: keep-all",
             ("path", "theme/base.css word-break")),
        out("Successfully replaced 1 block(s) in theme/base.css."),
    )),
    Scene("press", (
        u("Broken links: please check the whole site."),
        run("lychee --offline public/", ("command", "lychee --offline")),
        fail("[404] public/ข่าว/index.html | Cannot find file\n[ERROR] "
             "file://public/über-uns.html\n"
             "412 Total, 2 Errors", ("error", "Cannot find file 404"),
             ("path", "public/über-uns.html"),
             ("cjk", "ข่าว")),
        a("Two pages were renamed without a redirect: ข่าว and über-uns. I add both to _redirects.",
          ("path", "_redirects"), ("prose", "pages renamed without redirect")),
    )),
    Scene("ferry", (
        u("Why do we keep sessions in Redis and not in Postgres?",
          ("prose", "why sessions redis not postgres")),
        a("It was decided in the meeting of 12 May: logouts must work within a second on every "
          "ferry, "
          "and the boats' Postgres replicas lag behind by minutes. Redis is asked over the shore "
          "link "
          "and falls back to denying.", ("prose", "replicas lag shore link"),
          ("phrase", '"12 May"')),
        u("Right. Then set maxmemory-policy to noeviction there, losing sessions is worse than "
          "errors.",
          ("config", "maxmemory-policy noeviction")),
        run("redis-cli -h shore config set maxmemory-policy noeviction",
            ("command", "redis-cli config set")),
        out("OK"),
    )),
    Scene("tram", (
        u("CI is red on main."),
        run("gh run view 5518823 --log-failed", ("command", "gh run view --log-failed"),
            ("hash", "5518823")),
        fail("lint\tRun golangci-lint\tfeed/parse.go:112:2: ineffectual assignment to err "
             "(ineffassign)\n"
             "lint\tRun golangci-lint\tError: Process completed with exit code 1.",
             ("error", "ineffectual assignment to err"), ("path", "feed/parse.go:112")),
        edit("feed/parse.go", "row, err = reader.Read()", "row, err := reader.Read()"),
        out("Successfully replaced 1 block(s) in feed/parse.go."),
        a("The shadowed err hid a truncated stop_times file: rows after the first bad one were "
          "dropped "
          "in silence. It fails loudly now.",
          ("prose", "truncated stop_times rows dropped silence")),
    )),
)  # fmt: skip
"""Projects: ferry (bookings, Python), kiln (firmware, Rust), herbarium (catalogue, TypeScript), "
"tram
(timetables, Go), press (a site generator with readers in many languages)."""
