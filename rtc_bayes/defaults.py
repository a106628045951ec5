"""What is meant where nothing is named: one place, and light to import."""

MODEL = "robust"
ALGORITHM = "robust:gibbs"
MEASURE = "AP"
DEPTH = 100
REACH = 1000
JOBS = 2
# sampled, where probabilities come from outcomes
OUTCOMES = 20_000
# With more systems than this nobody looks at every pair of them: judging sums over systems, and a
# comparison samples outcomes of all at once. 129 systems have 8,256 pairs.
MANY_SYSTEMS = 20
MANY_PAIRS = MANY_SYSTEMS * (MANY_SYSTEMS - 1) // 2
# an interval holds 95%: so many standard deviations of a normal on either side
NORMAL_95 = 1.959964
# of a difference: as much more as errors of differences are larger than their standard deviations
# on four collections, 1.186 times (docs/results/whole-lists.md)
DIFFERENCE_95 = 2.324

# Of a method that draws: draws of each chain, chains, steps before a chain's first draw. As many
# as a confidence needs; NUTS, to which posteriors are held, takes more.
DRAWS, CHAINS, TUNE = 150, 4, 500
NUTS_DRAWS, NUTS_TUNE = 1000, 1000

# Judgments a topic, on average, that serve systems not judged for (docs/results/robust.md).
LEAST = 3.5

# Of a study (Carterette 2007, section 4.3): k systems a trial, judged for c of them.
TRIALS, SYSTEMS, INITIAL = 100, 10, 2
CONFIDENCE = 0.95

# Of a calibration study: fewer trials, and judgments made as in the paper.
CALIBRATION_TRIALS, CALIBRATION_JUDGE = 20, "rtc:map"
