import { nn, numpy as np } from "@jax-js/jax";

console.log(nn.logsumexp(np.array([Infinity, 0])).js());
// prints: NaN
