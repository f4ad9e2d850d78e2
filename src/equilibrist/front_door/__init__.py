"""The functions behind `import equilibrist as eq`: text in, results with their proofs out.

Each function puts together what the rooms below provide, as the commands of the same name do, and
prints nothing. Boards, ranges and bet sizes are text; amounts are chips or, in spots, text such as
5.5bb.
"""
