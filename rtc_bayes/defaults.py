"""What is meant where nothing is named: one place, and light to import."""

MODEL = "robust"
ALGORITHM = "robust:gibbs"
