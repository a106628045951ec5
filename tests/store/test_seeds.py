from rtc_bayes.store import spawn_seeds


def test_seeds_are_distinct_repeatable_and_do_not_depend_on_how_many():
    seeds = spawn_seeds(7, 1000)
    assert len(set(seeds)) == 1000
    assert seeds == spawn_seeds(7, 1000)
    assert seeds[:10] == spawn_seeds(7, 10)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert not set(seeds) & set(spawn_seeds(8, 1000))
    assert spawn_seeds(7, 0) == []
