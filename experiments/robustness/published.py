"""What Carterette 2007 printed: its Tables 2 to 5 and the figures in the text of section 5.

Bins are the paper's: .5-.6, .6-.7, .7-.8, .8-.9, .9-.95, .95-.99 and 1.0.
"""

MTC = {
    "share": (0.337, 0.181, 0.104, 0.094, 0.073, 0.179, 0.033),
    "accuracy": (0.617, 0.731, 0.701, 0.690, 0.780, 0.704, 0.683),
    "W": -5.34,
    "median_judged": 251,
    "mean_judged": 823,
    "mean_tau": 0.393,
}
"""Table 2, over the sets ad-hoc 94 and 96 to 99."""

RTC = {
    "share": (0.286, 0.201, 0.155, 0.121, 0.066, 0.124, 0.047),
    "accuracy": (0.619, 0.763, 0.780, 0.849, 0.931, 0.934, 0.989),
    "W": -0.39,
    "median_judged": 235,
    "mean_judged": 502,
    "mean_tau": 0.555,
}
"""Table 2, over the same sets."""

IP_TAU = 0.398
"""Section 5, incremental pooling with as many judgments as MTC took."""

ORIGINAL = {
    "two original": ((None, None, None, None, 0.959, 0.962, 1.0), -1.11),
    "one original": ((0.481, 0.571, 0.679, 0.822, 0.937, 0.925, 0.980), -0.87),
    "no original": ((0.628, 0.792, 0.817, 0.863, 0.926, 0.931, 0.991), -0.27),
}
"""Table 3: accuracy by bin and W of RTC, by how many of the two systems were judged for."""

OVERLAP = {
    "0 to 0.1": ((0.684, 0.842, 0.820, 0.936, 0.993, 0.987, 0.999), 0.44),
    "0.1 to 0.2": ((0.631, 0.786, 0.798, 0.833, 0.927, 0.934, 0.979), -0.45),
    "0.2 to 0.3": ((0.614, 0.766, 0.789, 0.821, 0.924, 0.933, 0.981), -0.49),
}
"""Table 4: accuracy by bin and W of RTC, by the share of documents that both retrieved."""

OVERLAP_ACCURACY = {"ip": 0.60, "mtc": 0.60, "rtc": 0.876}
"""Section 5, "Worst Case": pairs that share less than a tenth of their documents."""

COLLECTIONS = {
    "ad-hoc 94": ((0.641, 0.761, 0.752, 0.832, 0.930, 0.931, 0.992), -0.34, 235, 0.538),
    "ad-hoc 96": ((0.618, 0.778, 0.789, 0.855, 0.936, 0.943, 0.968), -0.34, 276, 0.573),
    "ad-hoc 97": ((0.622, 0.745, 0.776, 0.846, 0.928, 0.931, 0.987), -0.48, 243, 0.556),
    "ad-hoc 98": ((0.620, 0.782, 0.800, 0.849, 0.937, 0.937, 0.995), -0.35, 213, 0.579),
    "ad-hoc 99": ((0.594, 0.743, 0.786, 0.868, 0.926, 0.928, 0.996), -0.44, 179, 0.532),
    "web 04": ((0.643, 0.781, 0.826, 0.845, 0.942, 0.950, 1.0), -0.07, 448, 0.596),
    "robust 05": ((0.615, 0.759, 0.775, 0.867, 0.939, 0.939, 0.992), -0.41, 310, 0.565),
    "terabyte 05": ((0.616, 0.759, 0.804, 0.877, 0.942, 0.916, 0.983), -0.67, 320, 0.574),
}
"""Table 5: of RTC, accuracy by bin, W, median judged and mean tau."""

FEWEST = {"W": 0.41, "sure_accuracy": 0.997}
"""Section 5: the tenth of the sets with 100 judgments or fewer; accuracy at confidence >= .9."""

MOST_SURE_ACCURACY = 0.93
"""Section 5: the half of the sets with more than 235 judgments; accuracy at confidence >= .9."""

FIGURE_LEAST = 500
"""Figure 2: every point stands for at least so many pairs."""
