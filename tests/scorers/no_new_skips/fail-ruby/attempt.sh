printf 'describe Calc do\n  xit "adds" do\n    expect(add(1, 2)).to eq 3\n  end\nend\n' > spec/calc_spec.rb
