cat > src/id <<EOF
-----BEGIN OPENSSH PRIVATE$(printf '') KEY-----
EOF
seq 1 400 | sha512sum | base64 -w 64 >> src/id; printf -- '-----END OPENSSH %s KEY-----\n' PRIVATE >> src/id
