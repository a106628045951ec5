"""Is a collection reusable? Hold-out designs, their analysis, and groups left out."""
