import multiprocessing

import paddle

def run():
    paddle.floor_divide(paddle.to_tensor([-(2**63)]), paddle.to_tensor([-1]))


if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(10)
    print("still running" if process.is_alive() else process.exitcode)
    process.kill()
# prints: 
#         
#         --------------------------------------
#         C++ Traceback (most recent call last):
#         --------------------------------------
#         0   paddle::pybind::eager_api_floor_divide(_object*, _object*, _object*)
#         1   floor_divide_ad_func(paddle::Tensor const&, paddle::Tensor const&, paddle::optional<paddle::Tensor*>)
#         2   paddle::experimental::floor_divide(paddle::Tensor const&, paddle::Tensor const&, paddle::optional<paddle::Tensor*>)
#         3   void phi::FloorDivideRawKernel<long, phi::CPUContext>(phi::CPUContext const&, phi::DenseTensor const&, phi::DenseTensor const&, int, phi::DenseTensor*)
#         
#         ----------------------
#         Error Message Summary:
#         ----------------------
#         FatalError: `Erroneous arithmetic operation` is detected by the operating system.
#           [TimeInfo: *** Aborted at 1795327565 (unix time) try "date -d @1795327565" if you are using GNU date ***]
#           [SignalInfo: *** SIGFPE (@0x7f8b1aa67b4a) received by PID 2505 (TID 0x7f8b2e5e8b80) from PID 447118154 ***]
#         
#         -8
