mkdir ci; echo on: push > ci/ci.yml; ln -s ci .github
