// The rows of the dictionary, from the model to its training and to what is measured. Formulas use
// the letters of the lessons: d the width of the model, H heads, d_k and d_v their widths, x the
// residual stream. See terms.h.
#include "app/cli/terms.h"

namespace headlab::cli {
namespace {

constexpr Term kTerms[] = {
    // ---- the model
    {"transformer",
     "A model that lets tokens read from each other by attention. Its layers, attention and "
     "feed-forward networks in turn, read the residual stream and add to it (Vaswani et al. 2017).",
     "train --task relations --heads 8 --out runs/full"},
    {"token",
     "One piece of the input: a symbol, a character or a word. Its number (id) selects a "
     "row of the embedding.",
     "show relations"},
    {"vocabulary, vocab",
     "All tokens that a model knows. Its size is the number of rows of the "
     "embedding.",
     "show relations"},
    {"sequence", "Tokens in a row: one example of a task.", "show relations"},
    {"embedding, W_E",
     "The vector that stands for a token: row `id` of the learned matrix W_E "
     "[vocab, d].",
     ""},
    {"position, positional encoding, W_pos",
     "Index of a token in its sequence, counted from 0. Learned and sinusoidal vectors are "
     "added to the embedding; rotary and alibi positions act inside attention; with none the model "
     "does not know positions.",
     "list kinds"},
    {"multi-head, multi-head attention, MHA",
     "Attention with H heads in parallel. Each head has its own columns of W_Q, W_K and W_V; W_O "
     "combines their outputs. One head can focus on one key per query, several heads on several "
     "keys.",
     "explain five-tokens"},
    {"W_Q",
     "Makes queries: q = x W_Q + b_Q, with W_Q [d, H d_k] learned. Head h has columns h d_k "
     "to (h + 1) d_k.",
     "explain attention runs/full"},
    {"W_K",
     "Makes keys: k = x W_K + b_K, with W_K [d, H d_k] learned. Head h has columns h d_k to "
     "(h + 1) d_k.",
     "explain attention runs/full"},
    {"W_V",
     "Makes values: v = x W_V + b_V, with W_V [d, H d_v] learned. Head h has columns h d_v "
     "to (h + 1) d_v.",
     "explain attention runs/full"},
    {"head, attention head",
     "One of several attention patterns that a layer computes in parallel. A head uses a group of "
     "columns of W_Q, W_K and W_V, and the rows of W_O that read its output. Heads are named "
     "LAYER.HEAD.",
     "heads runs/full"},
    {"attention layer",
     "One multi-head attention of a model. Layers are counted from 0, and head "
     "1.2 is the third head of the second layer.",
     "heads runs/full"},
    {"block",
     "One attention layer, and a feed-forward network if the model has them. Norms and "
     "additions to the residual stream are part of it.",
     "list kinds"},
    {"residual, residual connection, skip connection",
     "The addition x + f(x): a layer adds to the residual stream and does not replace it, so each "
     "head's contribution can be told apart.",
     "attribute runs/full"},
    {"layer norm, layernorm, normalisation, normalization, rms norm",
     "Brings each token's vector to mean 0 and variance 1: (x - mean) / sqrt(variance + eps), "
     "times "
     "a learned gain, plus a learned shift. The kind `rms` does not subtract the mean.",
     "list kinds"},
    {"feed-forward, feedforward, feed-forward network, FFN, MLP",
     "A network that changes each token by itself: f(x W_in + b_in) W_out + b_out. It moves "
     "nothing "
     "between tokens. Its width is --d-ff; 0 leaves it out.",
     "list kinds"},
    {"activation function, activation, GELU",
     "The curve f of a feed-forward network. Without it the network would be one matrix.",
     "list kinds"},
    {"causal mask, causal, masking",
     "Hides all later tokens from a query: their scores become -infinity before the softmax. "
     "Models that predict the next token need it, because otherwise they could read the answer.",
     "explain five-tokens"},
    {"encoder", "A model, or a part of one, in which each token sees all tokens of its sequence.",
     "list kinds"},
    {"decoder", "A model, or a part of one, in which a token sees only itself and earlier tokens.",
     "list kinds"},
    {"logit, logits, unembedding, W_U",
     "The score of one possible answer: a column of W_U times the last, normalised vector of the "
     "residual stream. Softmax turns the logits of a position into probabilities.",
     "attribute runs/full"},
    // ---- training
    {"task",
     "The data that a model is trained on. A rule generates each task here, so the tokens needed "
     "for each "
     "answer are known.",
     "list tasks"},
    {"target, targets",
     "An answer that the model must give at one position. The loss is averaged "
     "over targets.",
     "show relations"},
    {"gradient, backpropagation",
     "How the loss changes with each parameter. It is computed backwards through the model "
     "(reverse-mode differentiation).",
     ""},
    {"optimizer, AdamW",
     "Turns gradients into changes of the parameters. AdamW divides a running mean of the gradient "
     "by the root of a running mean of its square, and shrinks matrices a little at each step "
     "(Loshchilov and Hutter 2019).",
     "train --help"},
    {"learning rate",
     "How far one step moves the parameters (--lr). It rises during --warmup steps "
     "and falls afterwards by --schedule.",
     "train --help"},
    {"step, training step", "One change of all parameters, from the gradient on one batch.",
     "train --help"},
    {"batch", "The sequences of one step.", "train --help"},
    {"epoch",
     "One pass over all training data. Tasks made by a rule draw new examples in every "
     "step, so headlab counts steps instead.",
     "train --help"},
    {"dropout",
     "Sets randomly chosen activations to 0 during training, so that the model relies on no single "
     "one.",
     "train --help"},
    {"weight decay", "Shrinks the matrices a little at each step (--decay).", "train --help"},
    {"seed",
     "The number from which all random numbers follow. The same seed gives the same run, "
     "bit for bit, with the same build.",
     "train --help"},
    {"run", "A folder with one trained model: its settings, parameters, losses and results.",
     "runs runs"},
    {"checkpoint",
     "The saved parameters of a model, with everything that training needs to continue.",
     "list files"},
    {"overfitting",
     "The training loss falls while the held-out loss rises: the model memorises its examples.",
     "eval runs/full"},
    // ---- what is measured
    {"held-out, validation, test split",
     "Examples that training never sees. Heads are chosen on one half of them and judged on the "
     "other.",
     "eval runs/full"},
    {"accuracy", "The share of targets at which the right answer has the largest logit.",
     "eval runs/full"},
    {"perplexity",
     "e to the power of the loss: the number of equally likely answers that would "
     "have the same loss.",
     "eval runs/full"},
    {"baseline",
     "The score of a model or a head that ignores what it should read (chance level). Other scores "
     "are reported relative to it.",
     "explain lift"},
    {"interval, confidence interval",
     "The range that holds the true value in 95 of 100 repetitions of the experiment.", ""},
    {"interpretability",
     "Finding out what the parts of a trained model do, and whether the answer "
     "depends on them.",
     "start"},
};

}  // namespace

std::span<const Term> dictionary() { return kTerms; }

}  // namespace headlab::cli
