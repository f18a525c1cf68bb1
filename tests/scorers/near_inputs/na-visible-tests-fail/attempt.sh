cat > roman.py <<'EOF'
def to_roman(number):
    return "I" * number
EOF
