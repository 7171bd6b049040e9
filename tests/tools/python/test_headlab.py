#!/usr/bin/env python3
"""examples/headlab.py without a notebook: test_headlab.py PROGRAM. Works with and without NumPy."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
EXAMPLES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples"))
sys.path.insert(0, EXAMPLES)
import headlab

SHORT = dict(steps=20, d_model=16, heads=4, eval_examples=32, batch=8)


class Array:
    """An array of another library: it has a shape and can be a list."""

    def __init__(self, nested):
        self.nested = nested
        self.shape = headlab._shape(nested)

    def tolist(self):
        return self.nested


def uniform(*shape):
    """Attention [..., queries, keys] in which every query attends to all keys alike."""
    if len(shape) == 1:
        return [1 / shape[0]] * shape[0]
    return [uniform(*shape[1:]) for _ in range(shape[0])]


class InAFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        cls.run_ = headlab.train(task="relations", out="runs/full", **SHORT)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()


class Runs(InAFolder):
    def test_training_makes_a_run(self):
        self.assertEqual(self.run_.path, "runs/full")
        self.assertEqual(repr(self.run_), "headlab.Run('runs/full')")
        self.assertEqual(headlab.train(task="copy", **SHORT).path, os.path.join("runs", "copy"))

    def test_biases_are_switched_by_true_and_false(self):
        for value, word in [(True, "on"), (False, "off")]:
            self.assertEqual(headlab._flags({"biases": value}), ["--biases", word])
        run = headlab.train(task="copy", out="runs/unbiased", biases=False, **SHORT)
        with open(os.path.join(run.path, "config.json"), encoding="utf-8") as file:
            self.assertIn('"biases": false', file.read().replace('"off"', "false"))

    def test_heads_are_rows(self):
        rows = headlab.rows(self.run_.heads(examples=32))
        self.assertEqual(len(rows), 4)
        self.assertIsInstance(rows[0]["entropy"], float)
        relations = headlab.rows(self.run_.relations(examples=32))
        self.assertEqual([row["name"] for row in relations][:1], ["back1"])

    def test_words_stay_words(self):
        words = ["-1", "+2", "=", "1e5", "007", "nan", "NA", "null", "inf", "1_0"]
        with open("words.jsonl", "w", encoding="utf-8") as file:
            draw = random.Random(5)
            for _ in range(120):
                tokens = [draw.choice(words) for _ in range(6)]
                file.write(json.dumps({"tokens": tokens, "targets": [None] + tokens[:-1]}) + "\n")
        headlab.train(task="file:train=words.jsonl", out="runs/words", **SHORT)
        rows = headlab.rows(headlab.table("eval", "runs/words", by="answer", table="answers"))
        answers = [row["answer"] for row in rows]
        self.assertTrue(answers)
        self.assertTrue(all(isinstance(answer, str) for answer in answers), answers)
        self.assertLessEqual(set(answers), set(words))
        self.assertIsInstance(rows[0]["loss"], float)

    def test_columns_are_those_of_csv(self):
        for name in ("heads", "relations"):
            shown = headlab._output(["heads", "runs/full", "--examples", "32", "--all", "--csv",
                                     "--table", name])
            rows = headlab.rows(headlab.table("heads", "runs/full", examples=32, all=True, table=name))
            self.assertEqual(list(rows[0]), shown.splitlines()[0].split(","))

    def test_patterns_are_an_array(self):
        patterns = self.run_.patterns(example=1)
        self.assertEqual(len(patterns), 4)
        self.assertAlmostEqual(sum(patterns[2][5]), 1, places=5)

    def test_curve_and_losses_are_rows(self):
        rows = headlab.rows(self.run_.curve(examples=32, methods=["greedy", "random"]))
        self.assertEqual({row["method"] for row in rows}, {"greedy", "random"})
        self.assertGreater(rows[0]["loss"], 0)
        self.assertEqual(headlab.rows(self.run_.training())[-1]["step"], 20)

    def test_losses_have_the_mean_of_the_evaluation_and_their_tokens(self):
        rows = headlab.rows(self.run_.losses(examples=8))
        mean = sum(row["loss"] for row in rows) / len(rows)
        self.assertAlmostEqual(mean, headlab.call("eval", "runs/full", examples=8)["loss"], places=6)
        tokens = {(row["example"], row["position"]): row["token"] for row in rows}
        back1 = [row for row in rows if row["name"] == "back1"]
        self.assertGreater(len(back1), 0)
        for row in back1:  # its answer is the token one position back
            before = tokens.get((row["example"], row["position"] - 1), row["answer"])
            self.assertEqual(row["answer"], before)

    def test_ablated_heads_have_the_loss_of_eval_without_them(self):
        self.assertEqual(len(headlab.rows(self.run_.ablate(examples=64))), 4)
        both = headlab.rows(self.run_.ablate(["0.1", "0.3"], examples=64))
        self.assertEqual(len(both), 1)
        without = headlab.call("eval", "runs/full", without="0.1,0.3", examples=64)
        self.assertAlmostEqual(both[0]["loss"], without["loss"], places=6)

    def test_pruning_returns_the_smaller_run(self):
        pruned = self.run_.prune(2, out="runs/two", examples=32)
        self.assertEqual(pruned.path, "runs/two")
        self.assertEqual(len(headlab.rows(pruned.heads(examples=32))), 2)

    def test_a_sweep_has_a_row_for_each_run_and_arms_are_compared(self):
        size = {name: value for name, value in SHORT.items() if name != "heads"}
        trials = headlab.rows(headlab.sweep("relations", heads=[1, 2], seeds=2, **size))
        self.assertEqual(len(trials), 4)
        compared = headlab.rows(headlab.compare("sweeps/relations"))
        self.assertEqual([row["seeds"] for row in compared], [2])

    @unittest.skipIf(headlab.numpy is None, "needs NumPy")
    def test_logits_give_the_losses(self):
        self.check_losses(self.run_)

    @unittest.skipIf(headlab.numpy is None, "needs NumPy")
    def test_logits_of_another_length_give_its_losses(self):
        run = headlab.train(task="relations", out="runs/rotary", positions="rotary", **SHORT)
        self.assertEqual(run.logits(task="relations:length=20", examples=2).shape[1], 20)
        self.check_losses(run, task="relations:length=20")

    @unittest.skipIf(headlab.numpy is None, "needs NumPy")
    def test_named_answers_are_differences_of_logits(self):
        relation = ["back1", "back3", "back5", "same"].index("same")
        clean, corrupted = "a b c d a c", "a b c d a d"
        asked = dict(answer="e", against="b", target="same")

        def difference(text, position):
            found = self.run_.logits(text)[0, position, relation]  # one logit a letter
            return found["abcdefghijklmnop".index("e")] - found[1]

        for position in (5, 3):
            words = dict(asked, input=clean, position=position)
            expected = difference(clean, position)
            self.assertAlmostEqual(self.call("lens", words)["prompt"][-1]["value"], expected, places=4)
            parts = self.call("attribute", words)["parts"]
            self.assertAlmostEqual(sum(part["shares"][0] for part in parts), expected, places=4)
        pair = self.call("patch", dict(asked, input=clean, corrupted=corrupted))
        self.assertAlmostEqual(pair["clean"], difference(clean, -1), places=4)
        self.assertAlmostEqual(pair["corrupted"], difference(corrupted, -1), places=4)

    @unittest.skipIf(headlab.numpy is None, "needs NumPy")
    def test_an_answer_alone_is_its_log_probability(self):
        found = self.run_.logits("a b c d a c")[0, -1, 0]
        expected = found[4] - headlab.numpy.log(headlab.numpy.exp(found).sum())
        words = dict(input="a b c d a c", answer="e", target="back1")
        self.assertAlmostEqual(self.call("lens", words)["prompt"][-1]["value"], expected, places=4)

    @unittest.skipIf(headlab.numpy is None, "needs NumPy")
    def test_lines_of_a_file_have_the_mean_of_their_differences(self):
        lines = [{"tokens": list("abcdac"), "targets": [None] * 5 + ["b"], "against": [None] * 5 + ["e"]},
                 {"tokens": list("bcdaca"), "targets": [None] * 5 + ["c"], "against": [None] * 5 + ["d"]}]
        with open("named.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines * 16)
        task = "file:train=named.jsonl,held_out=named.jsonl,test=named.jsonl"
        run = headlab.train(task=task, out="runs/named", **SHORT)
        vocabulary = "abcde"
        differences = []
        for line in lines:
            found = run.logits(" ".join(line["tokens"]))[0, -1, 0]
            differences.append(found[vocabulary.index(line["targets"][-1])] -
                               found[vocabulary.index(line["against"][-1])])
        mean = sum(differences) / 2
        for command in ("eval", "lens"):
            last = headlab.rows(headlab.table(command, "runs/named", table="against"))[-1]
            self.assertAlmostEqual(last["difference"], mean, places=4, msg=command)
        self.assertAlmostEqual(headlab.call("attribute", "runs/named")["logits"][0], mean, places=4)

    def call(self, command, settings):
        return headlab.call(command, "runs/full", **settings)

    def check_losses(self, run, **settings):
        numpy = headlab.numpy
        logits = run.logits(examples=4, **settings)
        for row in headlab.rows(run.losses(examples=4, **settings)):
            found = logits[row["example"], row["position"]]  # [targets, outputs]
            log_p = found - numpy.log(numpy.exp(found).sum(-1, keepdims=True))
            letters = "abcdefghijklmnop"
            names = ["back1", "back3", "back5", "same"]
            value = -log_p[names.index(row["name"]), letters.index(row["answer"])]
            self.assertAlmostEqual(value, row["loss"], places=4)

    @unittest.skipIf(headlab.numpy is None, "needs NumPy")
    def test_activations_of_own_tokens_have_their_length(self):
        arrays = self.run_.activations(["a", "b", "c"])
        self.assertEqual(arrays["blocks.0.attn.pattern"].shape, (1, 4, 3, 3))
        self.assertEqual(arrays["tokens"].tolist(), [[0, 1, 2]])
        self.assertEqual(self.run_.logits("a b c").shape, (1, 3, 4, 16))
        self.assertEqual(self.run_.activations(examples=5)["tokens"].shape[0], 5)

    def test_a_notebook_shows_the_page(self):
        shown = self.run_._repr_html_()
        self.assertTrue(shown.startswith('<iframe sandbox="allow-scripts'), shown[:80])
        self.assertIn("&lt;!doctype html&gt;", shown)
        self.assertNotIn("<script", shown)


class Attention(unittest.TestCase):
    def test_lists_are_shown(self):
        page = headlab.show(uniform(2, 3, 4, 4), ["a", "b", "c", "<&\">"], height=300)
        self.assertTrue(page.html.startswith("<!doctype html>"))
        self.assertIn("height:300px", page._repr_html_())

    def test_truth_is_scored(self):
        words = [["a", "b", "a", "b"]] * 2
        page = headlab.show(uniform(2, 1, 1, 4, 4), words, truth=[{"same": {"2": [0]}}] * 2)
        self.assertIn('"name":"same"', page.html.replace('": "', '":"'))

    def test_layers_of_transformers_are_exchanged_with_examples(self):
        layers = tuple(Array(uniform(5, 3, 4, 4)) for _ in range(2))
        nested = headlab._by_example(layers)
        self.assertEqual(headlab._shape(nested), [5, 2, 3, 4, 4])
        self.assertEqual(headlab._shape(headlab._by_example(Array(uniform(2, 3, 4, 4)))),
                         [2, 3, 4, 4])
        headlab.show(layers, [["a", "b", "c", "d"]] * 5)

    def test_cross_attention_has_two_lists(self):
        headlab.show(uniform(1, 2, 3, 4), {"queries": list("abc"), "keys": list("wxyz")})

    def test_rows_that_do_not_sum_to_one_need_consent(self):
        half = [[[[0.5, 0], [0.25, 0.25]]]]
        with self.assertRaises(headlab.Error) as caught:
            headlab.show(half, ["a", "b"])
        self.assertIn("sum to 0.5, not 1", caught.exception.sentence)
        self.assertIn("--unnormalised", caught.exception.hint)
        headlab.show(half, ["a", "b"], unnormalised=True)

    def test_what_is_no_attention_is_refused_with_a_sentence(self):
        for wrong, said in [(None, "None"), ((None, None), "None"), ((), "there are none"),
                            ([[]], "there are none"), ([[["a"]]], "type str"),
                            ([[[object()]]], "type object")]:
            with self.assertRaises(headlab.Error) as raised:
                headlab.show(wrong, ["a", "b"])
            self.assertIn(said, str(raised.exception))

    def test_tokens_of_numpy_are_words(self):
        class Word:
            """A number of NumPy: it has tolist and is no int."""

            def __init__(self, value):
                self.value = value

            def tolist(self):
                return self.value

        for tokens in [Array(["a", "b"]), [Word("a"), Word("b")], ("a", "b")]:
            headlab.show(uniform(1, 1, 2, 2), tokens)
        headlab.show(uniform(1, 1, 2, 2), ["a", "b"], truth={"same": {Word(1): [Word(0)]}})

    def test_parts_of_different_sizes_are_refused(self):
        with self.assertRaisesRegex(headlab.Error, "different sizes"):
            headlab.show([[uniform(2, 2), uniform(3, 3)]], ["a", "b"])


class Errors(unittest.TestCase):
    def test_sentences_of_the_program_are_exceptions(self):
        with self.assertRaises(headlab.Error) as caught:
            headlab.Run("nowhere")
        self.assertIn("nowhere", caught.exception.sentence)
        self.assertTrue(caught.exception.hint)
        with self.assertRaisesRegex(headlab.Error, "task"):
            headlab.train(task="no-such-task", out="x")
        with self.assertRaisesRegex(headlab.Error, "no-flag"):
            headlab.table("list", "tasks", no_flag=3)

    def test_a_run_is_never_read_as_a_flag(self):
        with self.assertRaises(headlab.Error) as raised:
            headlab.Run("--help")
        self.assertIn("--help", str(raised.exception))

    def test_a_program_that_is_not_there_is_named(self):
        known = headlab.program
        headlab.program = "/nowhere/headlab"
        try:
            with self.assertRaisesRegex(headlab.Error, "cannot run '/nowhere/headlab'"):
                headlab.call("list", "tasks")
        finally:
            headlab.program = known


class FromElsewhere(unittest.TestCase):
    """Started in a folder that knows nothing of the project."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def python(self, *words, **variables):
        """The result of Python in that folder; PATH holds nothing but what `variables` says."""
        kept = {"PATH": self.folder.name, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, *words], cwd=self.folder.name, env={**kept, **variables},
                              capture_output=True, text=True)

    def link_program(self):
        os.symlink(headlab.program, os.path.join(self.folder.name, "headlab"))

    def test_a_copy_of_the_file_finds_the_program_of_the_system(self):
        shutil.copy(os.path.join(EXAMPLES, "headlab.py"), self.folder.name)
        lines = "import headlab; print(len(headlab.call('list', 'tasks')) > 0)"
        missing = self.python("-c", lines)
        self.assertIn("cannot run 'headlab'", missing.stderr)
        self.assertIn("set HEADLAB or headlab.program to its path", missing.stderr)
        self.assertEqual(self.python("-c", lines, HEADLAB=headlab.program).stdout, "True\n")
        self.link_program()
        self.assertEqual(self.python("-c", lines).stdout, "True\n")

    def test_every_study_says_how_to_name_the_program(self):
        folder = os.path.join(EXAMPLES, "studies")
        studies = sorted(name for name in os.listdir(folder)
                         if name.endswith(".py") and name != "study.py")
        self.assertGreater(len(studies), 5)
        for name in studies:
            told = self.python(os.path.join(folder, name), "--small", HEADLAB="/nowhere/headlab")
            self.assertEqual(told.returncode, 1, name)
            self.assertEqual(told.stderr, "cannot run '/nowhere/headlab': there is no such program\n"
                             "hint: build it, or set HEADLAB to its path\n", name)

    def test_studies_find_the_program_of_the_system(self):
        self.link_program()
        lines = f"import sys; sys.path.insert(0, {os.path.join(EXAMPLES, 'studies')!r}); import study"
        found = self.python("-c", lines + "; print(study.program_path())").stdout.strip()
        self.assertTrue(os.access(found, os.X_OK), found)


if __name__ == "__main__":
    headlab.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
