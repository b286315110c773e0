"""One sentence for every term of the report, and what stands with its tables and figures."""

from __future__ import annotations

TERMS = {
    "memory": "A memory is a training case kept as a prototype; a new case is routed to the memory it is alike to.",
    "baseline": "The baseline is the model that gains are measured against: one classifier without memories.",
    "gain": "The gain is the accuracy of a model minus that of its baseline on the very same cases, in points.",
    "accuracy": "Accuracy is the share of all test cases answered rightly; “unknown” counts as an error.",
    "balanced": "Balanced accuracy is the mean over the classes of their own accuracies: always answering the "
    "commonest class earns only one over the number of classes there.",
    "interval": "The small print is the 95 % interval: test cases are drawn again and again (bootstrap), for gains "
    "the same ones for both models. An interval that contains 0 means the difference may be chance.",
    "groups": "Cases of one group are drawn together.",
    "corruption": "A corruption changes the test cases, more so at a higher severity; a corruption at one severity is "
    "a condition. The mean is taken over all corrupted conditions.",
    "severity": "Corruptions are fog, noise, blur …, at severities from 1, mild, to 5, which a person would call a "
    "ruined picture.",
    "coverage": "Coverage is the share of cases that get an answer at all; the others are “unknown”.",
    "selective": "Selective accuracy is the accuracy among the cases that got an answer.",
    "stability": "Routing stability is the share of test cases that keep, when corrupted, the memory they had clean.",
    "oracle": "Oracle routing is the accuracy when every corrupted case is sent to the memory it had clean: what the "
    "local classifiers could reach with perfect routing.",
    "control": "A control is a simple rival without the memory classifier’s idea. What a control reaches too does "
    "not come from that idea.",
    "recipe": "A recipe is a way of training the network (AugMix, NoisyMix …); the backbone is the network itself.",
    "bound": "A bound is a promise of theory: at most this share of new cases will be answered wrongly or not at all. "
    "It is about new cases like the training cases, not about corrupted ones. A bound of 1 or more is vacuous: it "
    "promises nothing, since no share is larger than 1.",
}

#: The steps of the method.
STEPS = (
    ("Case", "A new case arrives."),
    ("Similarity", "The expert’s similarity compares it with every memory, from 0 to 1."),
    ("Most similar memory", "If the similarity reaches the memory’s threshold, the case belongs to its cluster."),
    ("Its classifier", "The classifier that was trained on that cluster answers."),
    ("Answer or unknown", "Where no memory is similar enough, the answer is “unknown”, or the fallback’s."),
)

#: What stands with a table or a figure, on the page and in Markdown.
CAPTIONS = {
    "severities": "Mean over the corruptions at each severity. Bands are 95 % intervals.",
    "thin": "Controls are drawn thin and without bands.",
    "undrawn": "Balanced controls are not drawn.",
    "paper": "A strong colour or a bold number means that the 95 % interval of our difference excludes 0; a pale one "
    "may be chance, as all of the paper’s may (it states no intervals).",
    "seeds": "Numbers with an interval are means over several seeds; the 95 % interval is over seeds and test cases.",
    "ablation": "“+part”: that part alone, put on the memory classifier as the paper has it; “sturdy…”: the sturdy "
    "memory classifier with one part less, more or exchanged. The same networks answer in every row.",
    "method": "A memory classifier compares a case with its memories, as the expert’s similarity says, and lets the "
    "classifier of the most similar memory answer. A case that no memory is similar enough to is unknown, or goes to "
    "the fallback.",
    "samples": "Drawn at random from each class.",
    "masks": "The paper’s own expert feature sorts the segments of a picture by colour. It measures the discoloured "
    "share F_d and the brown share F_b of the leaf, which is the convex hull of what is green. The numbers should stay "
    "when the picture is corrupted.",
    "memories": "A case is taken by a memory when their similarity, from 0 to 1, reaches the memory’s threshold.",
    "routes": "Test cases, each with the memory that it was routed to. A case below the memory’s threshold is unknown, "
    "or goes to the fallback; so does one whose description is not trusted or that is too strange to the memory’s "
    "classifier.",
    "overlays": "The expert feature’s own view of a picture, clean and corrupted. Where the numbers stay, the route "
    "stays.",
    "gains": "Bold numbers have intervals that exclude 0 (by chance alone about one in twenty would); the others may "
    "be chance.",
    "bounds": "The terms end to end, as shares. A bound that reaches the dashed line is vacuous.",
}
