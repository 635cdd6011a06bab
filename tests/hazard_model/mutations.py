"""Check that the tests of the hazard model detect inserted defects in hazard tracking and in the pending queues.

    python tests/hazard_model/mutations.py [NAME ...]

The script inserts one defect at a time by replacing a text in the source code, and runs the tests, which must fail. It
prints NOT SEEN for a defect that no test detects, and then exits with status 1. With NAME it tests only the defects
whose names contain NAME.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = Path("src/memory/hazards.rs")
MARKS = Path("src/base/pending_marks.rs")
STEPS = Path("tests/hazard_model/src/deferred.rs")

# Defects of deferred operations: in the file `MARKS`, which marks blocks that pending operations use, and in the file
# `STEPS`, the model's copy of the steps of pending queues. Each entry has a file, followed by the same fields as an
# entry of `MUTATIONS`.
OF_DEFERRED = [
    (MARKS, "landing does not release", "store(number, Ordering::Release)", "store(number, Ordering::Relaxed)"),
    (
        MARKS,
        "a look at what has landed does not acquire",
        "landed[id.queue()].load(Ordering::Acquire)",
        "landed[id.queue()].load(Ordering::Relaxed)",
    ),
    (
        MARKS,
        "the count does not release",
        "count.store(count, Ordering::Release)",
        "count.store(count, Ordering::Relaxed)",
    ),
    (MARKS, "a look at the count does not acquire", "count.load(Ordering::Acquire)", "count.load(Ordering::Relaxed)"),
    (MARKS, "a second reader replaces the first", "if is_shared { PendingMark::MANY } else { id.0 }", "id.0"),
    (
        MARKS,
        "readers of several queues are nobody",
        "PendingMark::MANY => Some(Pending::Many)",
        "PendingMark::MANY => None",
    ),
    (
        MARKS,
        "the first push has no fence",
        "        fence(Ordering::SeqCst);\n        self.0.store(Self::BEGUN",
        "        self.0.store(Self::BEGUN",
    ),
    (
        MARKS,
        "an escape before the first push has no fence",
        "        fence(Ordering::SeqCst);\n        self.0.load",
        "        self.0.load",
    ),
    (MARKS, "the first push does not release", "(Self::BEGUN, Ordering::Release)", "(Self::BEGUN, Ordering::Relaxed)"),
    (
        MARKS,
        "a second push does not acquire the first",
        "self.0.load(Ordering::Acquire) != Self::BEGUN",
        "self.0.load(Ordering::Relaxed) != Self::BEGUN",
    ),
    (
        MARKS,
        "a push that finds another thread's beginning makes no fence",
        "self.0.load(Ordering::Acquire) != Self::BEGUN",
        "self.0.load(Ordering::Acquire) == Self::NONE",
    ),
    (
        STEPS,
        "a push does not say first that operations are deferred",
        "        self.usage.begin();\n        let mut queues = self.queues.lock().unwrap();\n",
        "        let mut queues = self.queues.lock().unwrap();\n",
    ),
    (
        MARKS,
        "an escape is recorded after the flush",
        "            self.0.store(Self::BEGUN, Ordering::Relaxed);\n            if flush()",
        "            if flush()",
    ),
    (
        MARKS,
        "an escape trusts one that is under way",
        "self.0.load(Ordering::Acquire) != Self::ENDED",
        "self.0.load(Ordering::Acquire) == Self::NONE",
    ),
    (
        MARKS,
        "the end of an escape does not release",
        "(Self::ENDED, Ordering::Release)",
        "(Self::ENDED, Ordering::Relaxed)",
    ),
    (
        MARKS,
        "an escape does not acquire the end of another",
        "self.0.load(Ordering::Acquire) != Self::ENDED",
        "self.0.load(Ordering::Relaxed) != Self::ENDED",
    ),
    (
        STEPS,
        "an address is given out without the lock",
        "            drop(self.queues.lock().unwrap());\n",
        "",
    ),
    (STEPS, "who gives an address out does not flush", "            self.before_write(block);\n", ""),
    (
        STEPS,
        "privacy is looked at before the lock is held",
        "let mut queues = self.queues.lock().unwrap();\n"
        "        if operand.published.is_begun() {\n            return false;\n        }",
        "if operand.published.is_begun() {\n            return false;\n        }\n"
        "        let mut queues = self.queues.lock().unwrap();",
    ),
    (
        STEPS,
        "a discarded operation does not land",
        "        queue.land_discarded(&self.landing, id.queue());\n",
        "",
    ),
    (
        STEPS,
        "a batch does not land the discarded operations behind it",
        "        queues.0[number].land_discarded(&self.landing, number);\n",
        "",
    ),
    (
        STEPS,
        "a batch lands before it is launched",
        "        for node in nodes.iter().flatten() {\n            launch(node);",
        "        self.landing.land(number, first + nodes.len() as u64 - 1);\n"
        "        for node in nodes.iter().flatten() {\n            launch(node);",
    ),
    (
        STEPS,
        "a batch is not counted while it is launched",
        "            queue.first += nodes.len() as u64;\n",
        "            queue.first += nodes.len() as u64;\n            self.landing.set_count(0);\n",
    ),
    (
        STEPS,
        "nobody waits for a batch of another thread",
        "while queues.0[number].is_in_flight {",
        "while false {",
    ),
    (STEPS, "a push leaves no mark on what it reads", "        self.landing.add(&operand.read_by, id);\n", ""),
    (STEPS, "a push leaves no mark on what it makes", "        result.written_by.set(id);\n", ""),
    (STEPS, "a dropped operation is still counted", "        queues.1 -= 1;\n", ""),
]

# Defects of hazard tracking, which the file `FILE` contains: name, replaced text, and new text with the defect.
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
    ("begin does not wait for marks", "UseEnd::Event(mark) => waiter.wait(mark),", "UseEnd::Event(_) => Ok(()),"),
    (
        "begin does not wait for the ends of queues",
        "UseEnd::Lazy => waiter.wait(&self.queue.mark()?),",
        "UseEnd::Lazy => Ok(()),",
    ),
    (
        "the end waits for nobody",
        "before.iter().try_for_each(|point| point.let_wait(&self.alloc_stream))",
        "drop(before);\n        Ok(())",
    ),
    (
        "the end waits for writes only",
        "uses.before(Access::Write, self.alloc_stream.identity())",
        "uses.before(Access::Read, self.alloc_stream.identity())",
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
        "UseTokenKind::Uncontended => self.add(access, queue, ticket.seen, 0),",
        "UseTokenKind::Uncontended => Ok(()),",
    ),
    (
        "who is announced never notes",
        "UseTokenKind::Announced => self.add(access, queue, ticket.seen, 1),",
        "UseTokenKind::Announced => {\n                self.cancel(ticket);\n                Ok(())\n            }",
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
        "if self.needs_no_wait_on(queue) { Ok(()) } else { self.add",
        "if true { Ok(()) } else { self.add",
    ),
    (
        "all numbers of a queue are one queue's",
        "_ if one.identity == identity => false,",
        "_ if one.identity == identity || !one.point.is_late() => false,",
    ),
]


def is_seen(folder: Path, file: Path, text: str) -> bool:
    before = (folder / file).read_text()
    (folder / file).write_text(text)
    seen = fails(folder)
    (folder / file).write_text(before)
    return seen


def fails(folder: Path) -> bool:
    command = ["cargo", "test", "--quiet", "--manifest-path", str(folder / "tests/hazard_model/Cargo.toml")]
    command += ["--target-dir", str(ROOT / "build/hazard_model_mutated")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "could not compile" in done.stderr:
        raise SystemExit(f"the mutation does not compile:\n{done.stderr}")
    return done.returncode != 0


def main(names: list[str]) -> int:
    unseen = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "tests/hazard_model", folder / "tests/hazard_model")
        for file in (FILE, MARKS):
            (folder / file).parent.mkdir(parents=True)
            shutil.copy(ROOT / file, folder / file)
        if not names and fails(folder):
            raise SystemExit("the model fails without any mutation")
        for file, what, before, after in [(FILE, *row) for row in MUTATIONS] + OF_DEFERRED:
            if names and not any(name in what for name in names):
                continue
            source = (ROOT / file).read_text()
            if source.count(before) < 1:
                raise SystemExit(f"{what}: the text is not in {file}: {before}")
            seen = is_seen(folder, file, source.replace(before, after))
            print(f"{'seen' if seen else 'NOT SEEN'}: {what}", flush=True)
            if not seen:
                unseen.append(what)
    return 1 if unseen else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
