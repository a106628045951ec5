"""The relevance models that come with rtc_bayes, one file each: read one, copy it, change it."""
