import { numpy as np } from "@jax-js/jax";

console.log(np.sum(np.array([true, true, true])).js(), np.mean(np.array([true, true, true])).js());
// prints: true 1
