mkdir spec; printf 'it "adds" do\n  expect(add(1, 2)).to eq(3)\nend\n' > spec/calc_spec.rb
