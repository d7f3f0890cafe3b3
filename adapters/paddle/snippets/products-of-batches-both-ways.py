import multiprocessing

import paddle

def run():
    paddle.matmul(paddle.ones([2, 1, 1, 2], dtype="int64"), paddle.ones([2, 2, 1], dtype="int64"))


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
#         0   phi::DenseTensor::~DenseTensor()
#         1   std::_Sp_counted_deleter<phi::Allocation*, std::function<void (phi::Allocation*)>, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>::_M_dispose()
#         2   paddle::memory::allocation::StatAllocator::FreeImpl(phi::Allocation*)
#         3   paddle::memory::allocation::CPUAllocator::FreeImpl(phi::Allocation*)
#         
#         ----------------------
#         Error Message Summary:
#         ----------------------
#         FatalError: `Process abort signal` is detected by the operating system.
#           [TimeInfo: *** Aborted at 1795327578 (unix time) try "date -d @1795327578" if you are using GNU date ***]
#           [SignalInfo: *** SIGABRT (@0xae0) received by PID 2784 (TID 0x7f85ab3bbb80) from PID 2784 ***]
#         
#         -6
