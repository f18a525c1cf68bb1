printf 'sensor,time,celsius\nattic,2026-01-05T00:00\n"never closed' > clean.csv
