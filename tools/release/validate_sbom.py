"""Check a bill of materials against the schema of CycloneDX: ``python tools/release/validate_sbom.py FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

if __name__ == "__main__":
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.exit(f"{sys.argv[1]}: {error}" if error else 0)
