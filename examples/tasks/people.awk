# Questions about rows of a table: three rows of a CSV file as tokens, then a name and a column;
# asked for is the cell. Truth: `cell`, where it stands. Names come back with other values, so that
# nothing can be known by heart.
#
#   awk -f examples/tasks/people.awk examples/tasks/people.csv > people.jsonl
#   headlab train --task file:train=people.jsonl --out runs/people
BEGIN { FS = ","; srand(1); q = "\"" }
NR == 1 { for (c = 1; c <= NF; ++c) title[c] = $c; columns = NF; next }
{ for (c = 1; c <= NF; ++c) cell[NR - 1, c] = $c; rows = NR - 1 }
END {
  for (i = 0; i < 8000; ++i) {
    tokens = ""; targets = ""; n = 0
    for (r = 0; r < 3; ++r) {
      do { row = 1 + int(rand() * rows); again = 0
        for (s = 0; s < r; ++s) again += cell[row, 1] == cell[chosen[s], 1]
      } while (again)
      chosen[r] = row
      for (c = 1; c <= columns; ++c) {
        tokens = tokens q cell[row, c] q ","; targets = targets "null,"; ++n
      }
    }
    r = int(rand() * 3); c = 2 + int(rand() * (columns - 1))
    printf "{\"tokens\":[%s\"%s\",\"%s?\"],\"targets\":[%snull,\"%s\"],\"truth\":{\"cell\":{\"%d\":[%d]}}}\n",
      tokens, cell[chosen[r], 1], title[c], targets, cell[chosen[r], c], n + 1, r * columns + c - 1
  }
}
