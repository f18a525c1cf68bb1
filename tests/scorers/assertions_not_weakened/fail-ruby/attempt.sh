printf 'it "adds" do\n  add(1, 2)\nend\n' > spec/calc_spec.rb
