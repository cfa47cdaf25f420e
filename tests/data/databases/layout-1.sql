-- The database as hearthd 0.1.0 of layout 1 left it, with two models and a default.
CREATE TABLE models (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    added INTEGER NOT NULL,
    kind TEXT NOT NULL,
    architecture TEXT NOT NULL,
    quantization TEXT NOT NULL,
    context INTEGER NOT NULL,
    parameters INTEGER NOT NULL,
    has_chat_template INTEGER NOT NULL,
    unsupported TEXT NOT NULL
) STRICT;
CREATE TABLE files (
    model TEXT NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    in_place INTEGER NOT NULL,
    PRIMARY KEY (model, part)
) STRICT;
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO models VALUES ('smollm2-135m-instruct-q4-1', 'SmolLM2-135M-Instruct.Q4_1', 1764500000,
    'model', 'llama', 'Q4_1', 8192, 134515008, 1, '');
INSERT INTO files VALUES ('smollm2-135m-instruct-q4-1', 0,
    '/home/user/.local/share/hearth/models/smollm2-135m-instruct-q4-1.gguf', 98362432,
    1738886400000000000, 'b0f5a4d3c2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5', 0);
INSERT INTO models VALUES ('strange', 'strange', 1764500100, 'model', 'mystery', 'F16', 0, 7, 0,
    'the architecture mystery is not supported');
INSERT INTO files VALUES ('strange', 0, '/srv/models/strange.gguf', 1024, 1738886400000000001,
    '00f5a4d3c2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5', 1);
INSERT INTO settings VALUES ('default_model', 'smollm2-135m-instruct-q4-1');
PRAGMA user_version = 1;
