"""What is meant where nothing is named: one place, and light to import."""

MODEL = "robust"
ALGORITHM = "robust:gibbs"
MEASURE = "AP"
DEPTH = 100
JOBS = 2
# sampled, where probabilities come from outcomes
OUTCOMES = 20_000

# Of a method that draws: draws of each chain, chains, steps before a chain's first draw. As many
# as a confidence needs; NUTS, to which posteriors are held, takes more.
DRAWS, CHAINS, TUNE = 150, 4, 500
NUTS_DRAWS, NUTS_TUNE = 1000, 1000
