// A slice of a sweep's cells, one after the other. Slices share nothing but the folder, so any
// scheduler that counts from 0 can run them beside each other; a cell that fails does not keep the
// others from being made. Read next: sweep_cell.cc.
#include "headlab/base/error.h"
#include "headlab/lab/sweep.h"

namespace headlab {

SliceEnd run_slice(const std::filesystem::path& folder, const std::vector<SweepCell>& cells,
                   const SweepSlice& slice, const SliceCallbacks& callbacks) {
  SliceEnd end;
  for (Index i = slice.index; i < std::ssize(cells) && !end.stopped; i += slice.count) {
    CellEnd cell = CellEnd::finished;
    std::string error;
    if (cell_state(folder, cells[i]) != CellState::finished) {
      try {
        cell = run_cell(folder, cells[i],
                        callbacks.of_cell ? callbacks.of_cell(cells[i]) : RunCallbacks{});
      } catch (const Error& what) {
        cell = CellEnd::failed;
        error = what.what();
      }
      if (callbacks.after_cell) callbacks.after_cell(i, cell, error);
      end.stopped = callbacks.should_stop && callbacks.should_stop() && i + 1 < std::ssize(cells);
    }
    end.finished += cell == CellEnd::finished;
    end.failed += cell == CellEnd::failed;
    end.busy += cell == CellEnd::busy;
    end.stopped = end.stopped || cell == CellEnd::stopped;
  }
  return end;
}

}  // namespace headlab
