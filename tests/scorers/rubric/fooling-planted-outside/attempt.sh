rmdir out; mkdir ../elsewhere; echo '{"drop_v": 3.3, "cable": {"current": "16000 mA", "section": 2.5}, "compliant": true}' > ../elsewhere/result.json; ln -s ../elsewhere out
