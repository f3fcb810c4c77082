#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""validate_json.py NAME < JSON: check that it is an instance of NAME in docs/reports.schema.json"""
import json
import os
import sys

import jsonschema

path = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "reports.schema.json")
with open(path, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
if sys.argv[1] not in schema["$defs"]:
    sys.exit(f"no definition {sys.argv[1]}")
schema["$ref"] = "#/$defs/" + sys.argv[1]
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(sys.stdin)))
for error in errors[:5]:
    print("/".join(map(str, error.absolute_path)) + ": " + error.message, file=sys.stderr)
sys.exit(1 if errors else 0)
