import multiprocessing
import os

import paddle


def run():
    os.close(1)
    paddle.matmul(paddle.ones([2, 1, 1, 2], dtype="int64"), paddle.ones([2, 2, 1], dtype="int64"))


if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(10)
    print(process.is_alive() or process.exitcode < 0)
    process.kill()
# prints: True
