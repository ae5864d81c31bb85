#!/usr/bin/env python3
"""Counts the messages of a page that stand in no test: `scripts/spec-messages.py PAGE.md`.

A message is a text in backquotes with blanks, in the sections 0 to 7 of the page. Names in quotes, single capitals and `…` in it
stand for anything; what is left of it has to stand in one test.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Texts that are code: of documents, SQL, shells, grammars and headers.
CODE = re.compile(
    r"""^[\[{(<$!@/*0-9-]|^(SELECT|SET|CREATE|UPDATE|AFTER|FOR|ENABLE|DROP|INSERT|BEGIN|REPLACE|PREPARE|WITH|DISTINCT|POST|GET|PRAGMA|WHEN|ALTER|COPY|RESET|ON)\b"""
    r"""|^(type|schema|extend|input|query|mutation|subscription|create_|drop_|update_|add_|delete_|set_|pg_|get_|reload_|introspect_|remove_|test_|invoke_|redeliver_|sources\[|hdb_|columns|headers:|old\.|json_|k=|a/|a && |1 <|not\(|\(not|<op>|Content-Length|order_paid|current_setting|replace: true|method: null|timeout: null|query_params|session_in_reads|kind:|status:|trace_id|locked nulls|`?x-hasura|include_in|`?now|\\"|custom_types:|definition:|error = |extensions\.|id,? |id text|if elif|limit\?|locked = |next_retry|place_order|range i|root_field_name|toLower|to_remote|to_source|tries <|version text|…_invocation|"\{\{|exactly one root|Invalid Path,)"""
)
NAME = re.compile(r'"[A-Za-z-]{1,12}"|\'[a-z]\'|\b[A-Z]\b(, [A-Z]\b)*|…|\b[a-z]\b(?=["`]|$)')


def list_messages(text):
    body = re.split(r"(?m)^## ", text)
    sections = [it for it in body if re.match(r"[0-7]\. ", it)]
    found = [it for section in sections for it in re.findall(r"`([^`\n]+)`", section)]
    return sorted({it for it in found if " " in it.strip() and not CODE.match(it) and len(it.split()) > 2})


def read_tests():
    texts = []
    for path in ROOT.glob("crates/*/**/*.rs"):
        text = path.read_text()
        is_test = "/tests/" in str(path) or path.name == "tests.rs"
        if not is_test:
            at = text.find("#[cfg(test)]")
            text = text[at:] if at >= 0 else ""
        # Texts that go on in the next line are one, and escaped quotes are quotes.
        texts.append(re.sub(r"\\\n\s*", "", text).replace('\\"', '"').replace("\\n", "\n"))
    for pattern in ("tests/**/*.json", "tests/**/*.txt", "tests/**/*.yaml"):
        texts.extend(path.read_text() for path in ROOT.glob(pattern) if "node_modules" not in str(path))
    return texts


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    messages = list_messages(pathlib.Path(sys.argv[1]).read_text())
    tests = read_tests()
    missing = []
    for message in messages:
        parts = [it.strip() for it in NAME.sub("\0", message).split("\0")]
        parts = [it for it in parts if len(it) > 3]
        if not any(all(part in text for part in parts) for text in tests):
            missing.append(message)
    for message in missing:
        print(message)
    print(f"{len(messages)} messages, {len(missing)} in no test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
