-- The tables of schema 2, as the versions that had no dictionary of texts wrote them.
CREATE TABLE metadata (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Distinct recorded working directories: authorization is decided on these at query time.
CREATE TABLE workspaces (workspace INTEGER PRIMARY KEY, cwd TEXT NOT NULL UNIQUE);

-- One row a session file, with its checkpoint. `epoch` is NULL until something was published.
CREATE TABLE sources (
  source INTEGER PRIMARY KEY,
  path BLOB NOT NULL UNIQUE,
  explicit INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER,
  session_id TEXT,
  cwd TEXT,
  state TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '',
  device INTEGER, inode INTEGER, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER,
  settled INTEGER NOT NULL DEFAULT 0,
  complete_offset INTEGER, complete_lines INTEGER, entries INTEGER,
  header_offset INTEGER, header_length INTEGER, header_hash BLOB,
  boundary_offset INTEGER, boundary_length INTEGER, boundary_hash BLOB,
  tail_offset INTEGER, tail_length INTEGER, tail_hash BLOB,
  -- Version of the projector that made the reading; another one reads the source again.
  projector INTEGER,
  -- Size at a look that found work to do, NULL again when the work is done.
  awaited_size INTEGER
);

-- Which session directories listed a source in their latest scan, and the way to it from there,
-- which differs from the source's own path where links are on it.
CREATE TABLE listings (
  directory BLOB NOT NULL, source INTEGER NOT NULL, path BLOB NOT NULL,
  PRIMARY KEY (directory, source)
) WITHOUT ROWID;

-- When each session directory was last looked through to the end, as ISO 8601 UTC.
CREATE TABLE directories (directory BLOB PRIMARY KEY, reconciled_at TEXT NOT NULL) WITHOUT ROWID;

-- What the latest look at each directory could not observe.
CREATE TABLE troubles (path BLOB NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL);

-- One row an epoch. `compaction_ord`, `compaction_depth` and `kept_depth` are the newest
-- compaction on the selected path (its ord and depth) and the depth at which its kept range
-- begins, NULL without one.
CREATE TABLE sessions (
  epoch INTEGER PRIMARY KEY,
  source INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  created_ts INTEGER, created_at TEXT,
  parent_session TEXT,
  name TEXT,
  last_ts INTEGER NOT NULL DEFAULT 0,
  events INTEGER NOT NULL DEFAULT 0,
  next_ord INTEGER NOT NULL DEFAULT 0,
  next_segment INTEGER NOT NULL DEFAULT 0,
  leaf_ord INTEGER, leaf_unknown INTEGER NOT NULL DEFAULT 0,
  irregular INTEGER NOT NULL DEFAULT 0,
  compaction_ord INTEGER, compaction_depth INTEGER, kept_depth INTEGER
);

CREATE TABLE events (
  event INTEGER PRIMARY KEY,
  entry_id TEXT NOT NULL,
  parent_id TEXT,
  entry_type TEXT NOT NULL,
  role TEXT,
  context_role INTEGER NOT NULL,
  contribution INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  ts INTEGER NOT NULL,
  timestamp TEXT,
  byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL, line INTEGER NOT NULL,
  record_hash INTEGER NOT NULL, copy_hash INTEGER NOT NULL,
  segment INTEGER, depth INTEGER,
  first_key INTEGER NOT NULL, fragments INTEGER NOT NULL
);
CREATE INDEX events_by_id ON events (entry_id);
CREATE INDEX events_by_parent ON events (parent_id);
CREATE INDEX events_by_place ON events (segment, depth);
CREATE INDEX events_by_compaction ON events (event) WHERE contribution = 3;
CREATE INDEX events_without_text ON events (ts) WHERE fragments = 0;

CREATE TABLE segments (
  segment INTEGER PRIMARY KEY,
  parent_segment INTEGER, parent_depth INTEGER,
  origin INTEGER NOT NULL,
  missing_parent TEXT
);
CREATE INDEX segments_by_parent ON segments (parent_segment, parent_depth);

-- The selected path: its segments, each up to the depth at which the path leaves it.
CREATE TABLE path (segment INTEGER PRIMARY KEY, upto INTEGER NOT NULL);

-- `head` counts the code points before an omission. NULL means that `text` is the whole text.
CREATE TABLE fragments (
  key INTEGER PRIMARY KEY,
  event INTEGER NOT NULL,
  kind INTEGER NOT NULL, n INTEGER NOT NULL,
  tool_name TEXT, custom_type TEXT,
  flags INTEGER NOT NULL,
  chars INTEGER NOT NULL, head INTEGER,
  text BLOB NOT NULL
);

-- What an entry says of another entry (by id), of a tool call (by its id) or of a file (by path).
-- Bound late: the other end is looked up when asked for, so order of arrival never matters.
-- Superseded and detached events have theirs too: Pi heeds labels and names of the former.
CREATE TABLE relationships (
  event INTEGER NOT NULL, kind INTEGER NOT NULL, reference TEXT NOT NULL,
  detail TEXT, flags INTEGER NOT NULL,
  PRIMARY KEY (event, kind, reference)
) WITHOUT ROWID;
CREATE INDEX relationships_by_reference ON relationships (reference, kind, event);
CREATE INDEX relationships_by_file ON relationships (reference) WHERE kind IN (6, 7);

-- What was skipped or repaired in a source, counted. `detail` says where the first one was.
CREATE TABLE receipts (
  epoch INTEGER NOT NULL, kind TEXT NOT NULL, count INTEGER NOT NULL, detail TEXT NOT NULL,
  PRIMARY KEY (epoch, kind)
) WITHOUT ROWID;

-- Keys handed out to a batch that has not been published. Its documents may be in Tantivy, and
-- then its stamp is (see `text_stamp` in the metadata and recovery.py).
CREATE TABLE reservations (
  first_key INTEGER PRIMARY KEY, last_key INTEGER NOT NULL, stamp INTEGER NOT NULL
);

-- Documents that no row answers for any more, deleted from Tantivy with the next batch.
CREATE TABLE dead_keys (first_key INTEGER PRIMARY KEY, last_key INTEGER NOT NULL);
CREATE TABLE dead_epochs (epoch INTEGER PRIMARY KEY);

INSERT INTO metadata VALUES ('index_uuid', '89fbb2f5343d422cac014dadd70a610c');
INSERT INTO metadata VALUES ('projector_version', 1), ('tokenizer_version', 1);
INSERT INTO metadata VALUES ('text_directory', 'text-89fbb2f5-1'), ('text_directories', 1);
INSERT INTO metadata VALUES ('text_stamp', -105), ('generation', 6);
INSERT INTO metadata VALUES ('next_key', 105), ('next_epoch', 5);
PRAGMA user_version = 2;
