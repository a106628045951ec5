"""What is meant where nothing is named: one place, and light to import."""

MODEL = "robust"
ALGORITHM = "robust:gibbs"
MEASURE = "AP"
DEPTH = 100
JOBS = 2
# sampled, where probabilities come from outcomes
OUTCOMES = 20_000

# Of a method that draws, where systems are compared: as many as a confidence needs.
DRAWS, CHAINS, TUNE = 150, 4, 500
