import array_api_strict as xp

print(xp.asarray([0.1 + 0.3j]) * xp.asarray([0.3 + 0.1j]), (0.1 + 0.3j) * (0.3 + 0.1j))
# prints: Array([1.66533454e-18+0.1j], dtype=array_api_strict.complex128) 0.1j
