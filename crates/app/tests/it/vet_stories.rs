//! `remand vet` on the history of a Go and a TypeScript repository.

use crate::first_use::is_left_out;
use crate::vet::Edit::{Replace, Write};
use crate::vet::{CI, Change, NEW_CI, Story, judge, told, tools};

const GO: Story = Story {
    together: ("check-failed", "queue/drain.go"),
    files: &[
        ("go.mod", "module example.test/queue\n\ngo 1.19\n"),
        (".gitignore", "build/\n"),
        CI,
        (
            "queue/queue.go",
            "// Package queue has a queue of jobs.\npackage queue\n\n// Queue holds jobs in their order.\ntype Queue struct {\n\tjobs []string\n}\n\n\
             // Push adds a job at the end.\nfunc (q *Queue) Push(job string) {\n\tq.jobs = append(q.jobs, job)\n}\n\n\
             // Pop removes the first job.\nfunc (q *Queue) Pop() string {\n\tif len(q.jobs) == 0 {\n\t\treturn \"\"\n\t}\n\t\
             first := q.jobs[0]\n\tq.jobs = q.jobs[1:]\n\treturn first\n}\n\n// Size is the number of jobs.\n\
             func (q *Queue) Size() int {\n\treturn len(q.jobs)\n}\n",
        ),
        (
            "queue/queue_test.go",
            "package queue\n\nimport \"testing\"\n\nfunc TestTheFirstJobComesFirst(t *testing.T) {\n\tq := &Queue{}\n\tq.Push(\"a\")\n\t\
             q.Push(\"b\")\n\tif got := q.Pop(); got != \"a\" {\n\t\tt.Errorf(\"Pop is %q\", got)\n\t}\n}\n\n\
             func TestAnEmptyQueueHasNoJob(t *testing.T) {\n\tif got := (&Queue{}).Pop(); got != \"\" {\n\t\t\
             t.Errorf(\"Pop is %q\", got)\n\t}\n}\n",
        ),
    ],
    changes: &[
        Change {
            name: "regression",
            edits: &[Replace(
                "queue/queue.go",
                "q.jobs[0]\n\tq.jobs = q.jobs[1:]",
                "q.jobs[len(q.jobs)-1]\n\tq.jobs = q.jobs[:len(q.jobs)-1]",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-regressed",
            file: "queue/queue_test.go",
        },
        Change {
            name: "deleted-test",
            edits: &[Replace(
                "queue/queue_test.go",
                "\nfunc TestAnEmptyQueueHasNoJob(t *testing.T) {\n\tif got := (&Queue{}).Pop(); got != \"\" {\n\t\tt.Errorf(\"Pop is %q\", got)\n\t}\n}\n",
                "",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "queue/queue_test.go",
        },
        Change {
            name: "weakened-test",
            edits: &[Replace(
                "queue/queue_test.go",
                "func TestAnEmptyQueueHasNoJob(t *testing.T) {\n",
                "func TestAnEmptyQueueHasNoJob(t *testing.T) {\n\tt.Skip(\"later\")\n",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "queue/queue_test.go",
        },
        Change {
            name: "flaky-test",
            edits: &[Write(
                "queue/steady_test.go",
                "package queue\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestSteady(t *testing.T) {\n\t_, err := os.Stat(\"../build/seen\")\n\t\
                 _ = os.MkdirAll(\"../build\", 0o755)\n\t_ = os.WriteFile(\"../build/seen\", nil, 0o644)\n\tif err != nil {\n\t\t\
                 t.Error(\"not seen\")\n\t}\n}\n",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-flaky",
            file: "queue/steady_test.go",
        },
        Change {
            name: "other-ci",
            edits: &[NEW_CI],
            arguments: &[],
            exit: 10,
            rule: "settings-changed",
            file: ".github/workflows/ci.yml",
        },
        Change {
            name: "refactoring",
            edits: &[Replace(
                "queue/queue.go",
                "\tif len(q.jobs) == 0 {\n\t\treturn \"\"\n\t}\n\tfirst := q.jobs[0]\n\tq.jobs = q.jobs[1:]\n\treturn first\n",
                "\tfirst := \"\"\n\tif len(q.jobs) > 0 {\n\t\tfirst, q.jobs = q.jobs[0], q.jobs[1:]\n\t}\n\treturn first\n",
            )],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "renames-pieces",
            edits: &[Replace(
                "queue/queue.go",
                "// Size is the number of jobs.\nfunc (q *Queue) Size(",
                "// Len is the number of jobs.\nfunc (q *Queue) Len(",
            )],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "uses-pieces",
            edits: &[
                Write(
                    "queue/drain.go",
                    "package queue\n\n// Drain removes all jobs.\nfunc Drain(q *Queue) []string {\n\tvar jobs []string\n\tfor q.Size() > 0 {\n\t\t\
                     jobs = append(jobs, q.Pop())\n\t}\n\treturn jobs\n}\n",
                ),
                Write(
                    "queue/drain_test.go",
                    "package queue\n\nimport \"testing\"\n\nfunc TestADrainedQueueIsEmpty(t *testing.T) {\n\tq := &Queue{}\n\tq.Push(\"a\")\n\t\
                     if jobs := Drain(q); len(jobs) != 1 {\n\t\tt.Errorf(\"Drain is %v\", jobs)\n\t}\n}\n",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
    ],
};

const TYPESCRIPT: Story = Story {
    together: ("test-new-red", "src/summary.ts"),
    files: &[
        (
            "package.json",
            "{\n  \"name\": \"meter\",\n  \"version\": \"1.0.0\",\n  \"type\": \"module\",\n  \"scripts\": { \"test\": \"vitest\" }\n}\n",
        ),
        (".gitignore", "node_modules\nbuild/\n"),
        CI,
        (
            "src/meter.ts",
            "/** Readings of a meter. */\nexport type Reading = { at: number; value: number };\n\n\
             /** What was used between the first and the last reading. */\nexport function used(readings: Reading[]): number {\n  \
             const values = readings.map((reading) => reading.value);\n  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);\n}\n\n\
             /** The latest reading. */\nexport function latest(readings: Reading[]): Reading | undefined {\n  \
             return [...readings].sort((one, other) => other.at - one.at)[0];\n}\n",
        ),
        (
            "test/meter.test.ts",
            "import { expect, test } from \"vitest\";\n\nimport { used } from \"../src/meter\";\n\ntest(\"the difference is used\", () => {\n  \
             expect(used([{ at: 1, value: 10 }, { at: 2, value: 14 }])).toBe(4);\n});\n\n\
             test(\"nothing is used without readings\", () => {\n  expect(used([])).toBe(0);\n});\n",
        ),
    ],
    changes: &[
        Change {
            name: "regression",
            edits: &[Replace("src/meter.ts", "- Math.min(...values)", "- values.length")],
            arguments: &[],
            exit: 10,
            rule: "test-regressed",
            file: "test/meter.test.ts",
        },
        Change {
            name: "deleted-test",
            edits: &[Replace(
                "test/meter.test.ts",
                "\ntest(\"nothing is used without readings\", () => {\n  expect(used([])).toBe(0);\n});\n",
                "",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "test/meter.test.ts",
        },
        Change {
            name: "weakened-test",
            edits: &[Replace(
                "test/meter.test.ts",
                "expect(used([])).toBe(0)",
                "expect(used([])).toBeDefined()",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "test/meter.test.ts",
        },
        Change {
            name: "flaky-test",
            edits: &[Write(
                "test/steady.test.ts",
                "import fs from \"node:fs\";\n\nimport { expect, test } from \"vitest\";\n\ntest(\"steady\", () => {\n  \
                 const was = fs.existsSync(\"build/seen\");\n  fs.mkdirSync(\"build\", { recursive: true });\n  \
                 fs.writeFileSync(\"build/seen\", \"\");\n  expect(was).toBe(true);\n});\n",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-flaky",
            file: "test/steady.test.ts",
        },
        Change {
            name: "other-ci",
            edits: &[NEW_CI],
            arguments: &[],
            exit: 10,
            rule: "settings-changed",
            file: ".github/workflows/ci.yml",
        },
        Change {
            name: "refactoring",
            edits: &[Replace(
                "src/meter.ts",
                "return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);",
                "if (values.length === 0) {\n    return 0;\n  }\n  return Math.max(...values) - Math.min(...values);",
            )],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "renames-pieces",
            edits: &[Replace("src/meter.ts", "function latest(", "function newest(")],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "uses-pieces",
            edits: &[
                Write(
                    "src/summary.ts",
                    "import { type Reading, latest } from \"./meter\";\n\n/** The latest value as text. */\nexport function summary(readings: Reading[]): string {\n  \
                     return `${latest(readings)?.value ?? 0} units`;\n}\n",
                ),
                Write(
                    "test/summary.test.ts",
                    "import { expect, test } from \"vitest\";\n\nimport { summary } from \"../src/summary\";\n\ntest(\"the latest value is shown\", () => {\n  \
                     expect(summary([{ at: 2, value: 9 }, { at: 1, value: 5 }])).toBe(\"9 units\");\n});\n",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
    ],
};

// BY-02
#[test]
fn changes_of_a_go_repository_get_their_verdicts() {
    if !is_left_out(&["go"]) {
        judge(&told(&GO), &GO);
    }
}

// BY-02
#[test]
fn changes_of_a_typescript_repository_get_their_verdicts() {
    if is_left_out(&["npm"]) {
        return;
    }
    let place = told(&TYPESCRIPT);
    std::os::unix::fs::symlink(tools().join("npm/node_modules"), place.project().join("node_modules"))
        .expect("a link to the packages");
    judge(&place, &TYPESCRIPT);
}
