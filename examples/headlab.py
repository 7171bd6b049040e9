"""headlab in Python and in notebooks. Copy this file next to your notebook.

    import headlab
    run = headlab.train(task="relations", heads=8)     # a run; shows its page at the end of a cell
    run.heads()                                        # scores of all heads, a row for each
    headlab.show(outputs.attentions, words)            # the attention of any other model

It needs the standard library and the program `headlab`. Arrays are NumPy arrays and tables are
pandas frames if these are installed; otherwise they are lists, and lists of dicts. An error of the
program is an Error with its sentence and its hint.
"""

import html
import json
import os
import struct
import subprocess
import tempfile

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None


class Error(Exception):
    """An error of the program: what it cannot do and why, and what to do about it (`hint`)."""

    def __init__(self, sentence, hint=""):
        super().__init__(sentence + (f"\nhint: {hint}" if hint else ""))
        self.sentence = sentence
        self.hint = hint


# ---- the program ---------------------------------------------------------------------------------


def _find_program():
    """The program that HEADLAB names, that of the folder of the project, or that of the system."""
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(here, "..", "build", "headlab")
    if os.environ.get("HEADLAB"):
        return os.environ["HEADLAB"]
    return os.path.normpath(built) if os.access(built, os.X_OK) else "headlab"


program = _find_program()  # set it to another path if the program is elsewhere


_SWITCHES = {"biases": ("off", "on")}  # settings whose two values are words of the program


def _flags(settings):
    """Settings as flags: heads=8 is --heads 8, force=True is --force, seeds=[0, 1] is --seeds 0,1."""
    words = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if value is None:
            continue
        if name in _SWITCHES and isinstance(value, bool):
            value = _SWITCHES[name][value]
        if value is True or value is False:
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, (list, tuple)):
            words += [f"--{flag}", ",".join(map(str, value))]
        else:
            words += [f"--{flag}", str(value)]
    return words


def _output(words, folder=None):
    """What the program prints, called in a folder. Raises Error if it fails."""
    path = os.path.abspath(program) if os.path.dirname(program) else program
    try:
        done = subprocess.run([path, *words], capture_output=True, text=True, encoding="utf-8",
                              cwd=folder)
    except OSError as reason:
        raise Error(f"cannot run '{program}': {reason.strerror}",
                    "build it, or set HEADLAB or headlab.program to its path") from None
    if done.returncode == 0:
        return done.stdout
    said = {"error": "", "hint": ""}
    for line in done.stderr.splitlines():
        key, _, sentence = line.partition(": ")
        if key in said:
            said[key] = sentence
    if done.stdout.startswith("{"):
        said.update({key: value for key, value in json.loads(done.stdout).items() if key in said})
    unknown = f"headlab {words[0]} ended with status {done.returncode}"
    raise Error(said["error"] or done.stderr.strip() or unknown, said["hint"])


def _command(command, arguments, flags):
    """A command line. Arguments that begin like a flag follow --, after which no word is one."""
    words = list(map(str, arguments))
    if any(word.startswith("-") for word in words):
        return [command, *flags, "--", *words]
    return [command, *words, *flags]


def call(command, *arguments, **settings):
    """The JSON of any command: call("eval", "runs/full", examples=64)."""
    return json.loads(_output(_command(command, arguments, [*_flags(settings), "--json"])))


def table(command, *arguments, **settings):
    """A table of any command, as a frame or a list of dicts: table("heads", "runs/full"). Words stay
    words: the tokens NA, null and 007 are texts. What was not measured is None."""
    return _frame(_rows(call(command, *arguments, **settings)))


def _frame(found):
    return found if pandas is None else pandas.DataFrame(found)


def rows(frame):
    """A table as a list of dicts, whether pandas is installed or not."""
    return frame.to_dict("records") if hasattr(frame, "to_dict") else frame


def _rows(found):
    """The rows of the first table of a result, with the columns that CSV has."""
    if "tables" not in found:  # a list, such as that of tasks
        return next(value for value in found.values() if isinstance(value, list))
    shape = found["tables"][0]
    rows = _at(found, shape["name"]) if shape["name"] else [found]
    if shape["inner"]:
        rows = [{**row, **part} for row in rows for part in row[shape["inner"]]]
    columns = [column for column in shape["columns"] if not _is_list(column, rows)]
    return [{name: value for column in columns for name, value in _cells(column, row)}
            for row in rows]


def _at(json_object, path):
    """The value at a path of names and places, joined by dots; None if there is none."""
    for part in path.split("."):
        if isinstance(json_object, list):
            place = int(part)
            json_object = json_object[place] if place < len(json_object) else None
        else:
            json_object = json_object.get(part) if isinstance(json_object, dict) else None
    return json_object


def _is_list(column, rows):
    """Whether cells of the column are lists of any length, which are tables of their own."""
    values = column["cell"] in ("plain", "heads", "sparkline") and len(column["paths"]) == 1
    return values and any(isinstance(_at(row, column["paths"][0]), list) for row in rows)


def _cells(column, row):
    """The names that CSV gives to the values of a cell, with the values."""
    values = [_at(row, path) for path in column["paths"]]
    name = column.get("csv") or column["key"]
    if column["cell"] in ("interval", "half_width"):
        mean, low, high = values if len(values) == 3 else _ends(*values)
        cells = [(name, mean), (name + "_low", low), (name + "_high", high)]
    elif column["cell"] == "head" and len(values) == 1:
        layer, head = values[0] or (None, None)
        cells = [(name + "_layer", layer), (name + "_head", head)]
    elif len(values) == 1:
        cells = [(name, values[0])]
    else:
        cells = zip(column["paths"], values)
    return [(name.replace(".", "_").replace(" ", "_"), value) for name, value in cells]


def _ends(mean, half):
    """A mean with the ends of its interval, from half of its width."""
    return (mean, None, None) if half is None else (mean, mean - half, mean + half)


# ---- pages ---------------------------------------------------------------------------------------


class Page:
    """A page as one document of HTML, which a notebook shows in a frame."""

    def __init__(self, document, height=820):
        self.html = document
        self.height = height

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self.html)}" '
                f'style="width:100%;height:{int(self.height)}px;border:0"></iframe>')


def _read_page(path, height):
    with open(path, encoding="utf-8") as file:
        return Page(file.read(), height)


# ---- runs ----------------------------------------------------------------------------------------


class Run:
    """A run in a folder. Keywords are flags of the commands: heads(examples=128)."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.exists(os.path.join(self.path.split("@")[0], "config.json")):
            call("eval", self.path)  # says what is wrong

    def __repr__(self):
        return f"headlab.Run({self.path!r})"

    def heads(self, **settings):
        """Scores of all heads on all relations, a row for each head."""
        return table("heads", self.path, **settings)

    def relations(self, **settings):
        """The best head of each relation, a row for each relation."""
        return table("heads", self.path, table="relations", **settings)

    def curve(self, **settings):
        """The loss of the best heads of each size, a row for each method and size."""
        return table("curve", self.path, table="points", **settings)

    def losses(self, **settings):
        """The loss of each held-out target, with the token at its position: a row for each."""
        return table("eval", self.path, table="single_targets", **settings)

    def logits(self, tokens=None, **settings):
        """Logits [examples, positions, targets, outputs] of held-out examples, or, for one input of
        your own, [1, positions, targets, outputs]. Tokens are a list of words or a text."""
        if tokens is not None:
            return self.activations(tokens, **settings)["logits"]
        return self._arrays("eval", "logits", "logits.npz", **settings)["logits"]

    def activations(self, tokens=None, **settings):
        """Arrays of all layers by name (`headlab pattern --help` lists them), of held-out examples
        (examples=8) or of one input of your own."""
        if tokens is not None:
            settings["input"] = tokens if isinstance(tokens, str) else " ".join(map(str, tokens))
        return self._arrays("pattern", "activations", "activations.npz", **settings)

    def _arrays(self, command, flag, name, **settings):
        """The arrays that a command writes, by name."""
        if numpy is None:
            raise Error(f"cannot read {flag}: NumPy is not installed", "pip install numpy")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            call(command, self.path, **{flag: path}, **settings)
            with numpy.load(path) as arrays:
                return dict(arrays)

    def ablate(self, heads=None, **settings):
        """What ablating each head costs, a row for each; with heads (["0.1", "0.3"]) what ablating
        these together costs, one row."""
        return table("ablate", self.path, head=heads, **settings)

    def prune(self, keep, out=None, **settings):
        """Removes heads until `keep` are left, and returns the pruned run."""
        out = os.fspath(out) if out is not None else f"{self.path}-pruned"
        call("prune", self.path, keep=keep, out=out, **settings)
        return Run(out)

    def training(self):
        """Losses and accuracy over training, a row for each evaluation."""
        with open(os.path.join(self.path, "metrics.jsonl"), encoding="utf-8") as file:
            evaluations = [json.loads(line) for line in file]
        return _frame([{name: value for name, value in evaluation.items()
                        if not isinstance(value, (list, dict))} for evaluation in evaluations])

    def patterns(self, example=0):
        """Attention patterns of all heads on a held-out example: [heads, queries, keys]. If the
        heads of an encoder-decoder have patterns of different sizes: a list of [queries, keys]."""
        found = call("pattern", self.path, example=example)
        heads = [head["pattern"] for head in found["patterns"]]
        if numpy is None:
            return heads
        arrays = [numpy.array(head) for head in heads]
        return numpy.stack(arrays) if len({a.shape for a in arrays}) == 1 else arrays

    def page(self, height=820, **settings):
        """The page of the run."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            _output(["page", self.path, "--out", path, *_flags(settings)])
            return _read_page(path, height)

    def _repr_html_(self):
        return self.page()._repr_html_()


def train(task="relations", out=None, **settings):
    """Trains a model in the folder `out`, runs/TASK if it is None, and returns its run."""
    out = os.fspath(out) if out is not None else os.path.join("runs", task.split(":")[0])
    call("train", task=task, out=out, **settings)
    return Run(out)


def sweep(task="relations", out=None, **settings):
    """Trains a run for each combination of settings, sweep(heads=[1, 2, 4], seeds=10), and returns
    its trials, a row for each. The same call again trains only what is missing."""
    out = os.fspath(out) if out is not None else os.path.join("sweeps", task.split(":")[0])
    return table("sweep", task=task, out=out, table="results", **settings)


def compare(*arms, **settings):
    """Compares runs, or groups of a sweep, over seeds: compare("sweeps/a/heads=1",
    "sweeps/a/heads=4"). Returns a row for each comparison."""
    return table("compare", *arms, table="comparisons", **settings)


# ---- attention of any model ----------------------------------------------------------------------


def _plain(array):
    """An array of any kind as nested lists, and a number of NumPy as one of Python."""
    for step in ("detach", "cpu", "float"):  # a tensor of PyTorch
        array = getattr(array, step)() if hasattr(array, step) else array
    if hasattr(array, "tolist"):
        return array.tolist()
    return [_plain(part) for part in array] if isinstance(array, (list, tuple)) else array


def _shape(nested):
    return [len(nested), *_shape(nested[0])] if isinstance(nested, list) and nested else []


def _words(tokens):
    """Tokens, or ground truth, as lists and dicts of words and numbers, whatever holds them."""
    if isinstance(tokens, dict):
        return {str(_plain(key)): _words(value) for key, value in tokens.items()}
    plain = _plain(tokens)
    return [_words(part) for part in plain] if isinstance(plain, list) else plain


def _numbers(nested, shape):
    """All numbers of nested lists of this shape, in order."""
    if isinstance(nested, list) and not nested:
        raise Error("cannot show the attentions: there are none", "give at least one layer")
    if not shape:
        if isinstance(nested, (bool, int, float)):
            return [float(nested)]
        found = "None" if nested is None else f"a value of the type {type(nested).__name__}"
        raise Error(f"cannot show the attentions: they hold {found}, not numbers",
                    "ask the model for its weights; in transformers, load it with "
                    "attn_implementation='eager' and call it with output_attentions=True")
    if not isinstance(nested, list) or len(nested) != shape[0]:
        raise Error("cannot show the attentions: their parts have different sizes",
                    "give all layers and examples the same numbers of heads, queries and keys")
    return [number for part in nested for number in _numbers(part, shape[1:])]


def _npy(nested):
    """Nested lists as the bytes of a .npy file of float32."""
    shape = _shape(nested)
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join(
        f"{size}, " for size in shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    numbers = _numbers(nested, shape)
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(numbers)}f", *numbers))


def _by_example(attentions):
    """Attentions with examples first. Layers as a tuple or list of arrays [examples, heads,
    queries, keys], as transformers returns them, are exchanged with the examples."""
    is_layers = isinstance(attentions, (list, tuple)) and len(attentions) > 0 and all(
        len(getattr(layer, "shape", ())) == 4 for layer in attentions)
    nested = _plain(attentions)
    return [list(example) for example in zip(*nested)] if is_layers else nested


def show(attentions, tokens, truth=None, height=820, **settings):
    """A page of attention patterns of any model.

    attentions: [layers, heads, queries, keys], or with examples in front, as an array, a tensor or
        nested lists; or the tuple of layers, each [examples, heads, queries, keys], that a model of
        transformers returns with output_attentions=True.
    tokens: the words, a list of them for each example, or {"queries": ..., "keys": ...} of such
        lists for cross-attention.
    truth: the ground truth of an example, {"same": {"3": [1]}}: for each relation and query its
        keys; a list of these for several examples.
    settings: flags of `headlab page`, such as unnormalised=True or budget=4.
    """
    words = ["page", "--patterns", "attentions.npy", "--tokens", "tokens.json"]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "attentions.npy"), "wb") as file:
            file.write(_npy(_by_example(attentions)))
        with open(os.path.join(folder, "tokens.json"), "w", encoding="utf-8") as file:
            json.dump(_words(tokens), file)
        if truth is not None:
            lines = truth if isinstance(truth, list) else [truth]
            with open(os.path.join(folder, "truth.jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"truth": _words(line)}) + "\n" for line in lines)
            words += ["--truth", "truth.jsonl"]
        _output([*words, "--out", "page.html", *_flags(settings)], folder)
        return _read_page(os.path.join(folder, "page.html"), height)
