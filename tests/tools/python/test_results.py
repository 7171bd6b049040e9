"""Tests of tests/tools/results: which commands and numbers of a document it reads, and when a number
is printed."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../results"))
sys.dont_write_bytecode = True
import run  # noqa: E402


class Results(unittest.TestCase):
    def test_blocks_begin_with_commands_and_hold_all_text_below(self):
        blocks = run.blocks_of("examples/RESULTS.md")
        self.assertGreater(len(blocks), 20)
        for line, commands, below in blocks:
            self.assertRegex(commands[0], run.COMMAND, line)
            self.assertNotRegex(" ".join(text for _, text in below), "    build/headlab ", line)
        _, commands, below = next(b for b in blocks if b[1][0].startswith("while read"))
        self.assertIn("assign 4 2", commands)
        self.assertTrue(any("ablation_resample" in text for _, text in below))

    def test_the_text_of_a_block_ends_at_the_next_heading(self):
        _, _, below = run.blocks_of("README.md")[0]
        self.assertTrue(any("Ablate a head" in text for _, text in below))
        self.assertFalse(any("Five commands" in text for _, text in below))

    def test_numbers_are_those_of_results(self):
        text = "heads=4 ends 4.41 (2.40 to 7.97) p .0017 of 23,104, -0.07* in 20 of 20 (Press 2022)"
        self.assertEqual(run.numbers_of(text),
                         ["4.41", "2.40", "7.97", ".0017", "23,104", "-0.07", "20", "20"])

    def test_a_number_is_printed_if_a_result_rounds_to_it(self):
        for word, printed in {"0.93": 0.9312, "23,104": 23104, "2e-5": 1.6e-5, ".0006": 0.00064,
                              "20": 20, "-0.07": -0.068}.items():
            self.assertTrue(run.is_printed(word, [7, printed]), word)
        for word, printed in {"0.93": 0.94, "20": 21, "2e-5": 3e-5, "-0.07": 0.07}.items():
            self.assertFalse(run.is_printed(word, [printed]), word)

    def test_numbers_that_no_command_prints_are_named_with_their_lines(self):
        below = [(5, "the loss is 0.25, `--steps 9`"), (6, "and 3 of 4 fail")]
        self.assertEqual(run.not_found(below, "loss 0.2512\n3 of 10"), (3, [(6, "4")]))


if __name__ == "__main__":
    unittest.main()
