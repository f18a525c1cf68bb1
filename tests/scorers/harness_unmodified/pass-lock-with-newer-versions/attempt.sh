sed -i 's/8\.0\.0/8.1.0/; s/1\.5\.0/1.6.0/' uv.lock
cat >> uv.lock <<'LOCK'

[[package]]
name = "left-pad"
version = "0.1.0"
source = { directory = "vendored/left-pad" }
LOCK
