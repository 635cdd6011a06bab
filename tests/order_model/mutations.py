"""Take each wait and each note out of src/memory/order.rs in turn, and hold that the model checker sees it.

    python tests/order_model/mutations.py [NAME ...]

Each row is a defect somebody could write. One that no test of the model sees is marked, and the exit status is 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = Path("src/memory/order.rs")

# Name of the defect, the text as it is, the text with the defect.
MUTATIONS = [
    (
        "a write waits for writes only",
        "(Access::Write, _) => true,",
        "(Access::Write, other) => other == Access::Write,",
    ),
    (
        "a read waits for nobody",
        "(Access::Read, Access::Write) => one.number > behind,",
        "(Access::Read, Access::Write) => false,",
    ),
    (
        "a write does not wait for reads",
        "(Access::Write, _) => true,",
        "(Access::Write, Access::Read) => false,\n            (Access::Write, _) => true,",
    ),
    (
        "begin waits for nobody",
        "if let Err(error) = point.let_wait(queue) {",
        "if let (Err(error), true) = (Ok(()), point.is_late()) {",
    ),
    ("begin does not wait for marks", "Until::Mark(mark) => waiter.wait(mark),", "Until::Mark(_) => Ok(()),"),
    (
        "begin does not wait for the ends of queues",
        "Until::End => waiter.wait(&self.queue.mark()?),",
        "Until::End => Ok(()),",
    ),
    (
        "the end waits for nobody",
        "before.iter().try_for_each(|point| point.let_wait(&self.home))",
        "drop(before);\n        Ok(())",
    ),
    (
        "the end waits for writes only",
        "uses.before(Access::Write, self.home.identity())",
        "uses.before(Access::Read, self.home.identity())",
    ),
    (
        "a write forgets what came since it began (A2)",
        "(old.number <= seen && (access == Access::Write || is_own))",
        "(access == Access::Write || (old.number <= seen && is_own))",
    ),
    (
        "a mark forgets a later one of its queue",
        "(old.number <= seen && (access == Access::Write || is_own))",
        "(is_own || (old.number <= seen && access == Access::Write))",
    ),
    (
        "a read stands for a write of its queue",
        "old.identity == identity && old.access <= access",
        "old.identity == identity",
    ),
    (
        "who began alone never notes",
        "Kind::Alone => self.add(access, queue, ticket.seen, 0),",
        "Kind::Alone => Ok(()),",
    ),
    (
        "who is announced never notes",
        "Kind::Announced => self.add(access, queue, ticket.seen, 1),",
        "Kind::Announced => {\n                self.cancel(ticket);\n                Ok(())\n            }",
    ),
    ("who waits does not say so first", "self.under_way == 0\n            && self.list.iter()", "self.list.iter()"),
    (
        "queues of others are marked late",
        "if queue.lasts() {\n            return (point",
        "if true {\n            return (point",
    ),
    ("any queue is alone", "one.identity == identity && one.point.is_late())", "one.point.is_late())"),
    (
        "marked uses are no others",
        "one.identity == identity && one.point.is_late())",
        "one.identity == identity || !one.point.is_late())",
    ),
    (
        "a reader has waited for all writes to come",
        "number: self.latest, behind: seen }",
        "number: self.latest, behind: u64::MAX }",
    ),
    ("the making of a block is no use", "number: MADE, behind: 0 }", "number: 0, behind: 0 }"),
    (
        "a note without waits forgets all others",
        "self.add(access, queue, 0, 0)",
        "self.add(access, queue, u64::MAX, 0)",
    ),
    (
        "what comes back is not noted",
        "if self.is_all_of(queue) { Ok(()) } else { self.add",
        "if true { Ok(()) } else { self.add",
    ),
    (
        "all numbers of a queue are one queue's",
        "_ if one.identity == identity => false,",
        "_ if one.identity == identity || !one.point.is_late() => false,",
    ),
]


def is_seen(folder: Path, text: str) -> bool:
    (folder / FILE).write_text(text)
    command = ["cargo", "test", "--quiet", "--manifest-path", str(folder / "tests/order_model/Cargo.toml")]
    command += ["--target-dir", str(ROOT / "build/order_model_mutated")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "could not compile" in done.stderr:
        raise SystemExit(f"the mutation does not compile:\n{done.stderr}")
    return done.returncode != 0


def main(names: list[str]) -> int:
    source = (ROOT / FILE).read_text()
    unseen = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "tests/order_model", folder / "tests/order_model")
        (folder / FILE).parent.mkdir(parents=True)
        for what, before, after in MUTATIONS:
            if names and not any(name in what for name in names):
                continue
            if source.count(before) < 1:
                raise SystemExit(f"{what}: the text is not in {FILE}: {before}")
            seen = is_seen(folder, source.replace(before, after))
            print(f"{'seen' if seen else 'NOT SEEN'}: {what}", flush=True)
            if not seen:
                unseen.append(what)
        if not names and is_seen(folder, source):
            raise SystemExit("the model fails without any mutation")
    return 1 if unseen else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
