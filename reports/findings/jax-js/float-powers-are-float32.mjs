import { numpy as np } from "@jax-js/jax";

console.log(np.floatPower(np.array([3]), 2).dtype);
// prints: float32
