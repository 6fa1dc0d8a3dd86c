"""PageRank of an edge list of numbers by one library: pagerank.py LIBRARY FILE TOLERANCE.

Prints one line of JSON: the seconds for reading, building and solving, and the best pages. All libraries read the same
file with pyarrow, except rustworkx, which has a reader of its own. Reset 1/8, pages without links vote uniformly.
"""

import json
import resource
import sys
import time

import numpy as np

# A machine with other work must not run out of memory.
resource.setrlimit(resource.RLIMIT_AS, (15 << 30, 15 << 30))

DAMPING = 0.875


def edges(path):
    import pyarrow as pa
    from pyarrow import csv

    names = csv.ReadOptions(column_names=["a", "b"], block_size=1 << 24)
    types = csv.ConvertOptions(column_types={"a": pa.int32(), "b": pa.int32()})
    table = csv.read_csv(path, names, csv.ParseOptions(delimiter="\t"), types)
    return table["a"].to_numpy(), table["b"].to_numpy()


def scipy_solver(a, b, tolerance):
    from scipy.sparse import csr_array

    n = int(max(a.max(), b.max())) + 1
    keep = a != b
    links = csr_array((np.ones(keep.sum(), dtype=np.float64), (b[keep], a[keep])), shape=(n, n))
    links.sum_duplicates()
    links.data[:] = 1.0
    out = np.bincount(links.indices, minlength=n)
    weights = np.divide(1.0, out, where=out > 0, out=np.zeros(n))
    dangling = out == 0

    def solve():
        scores, rounds = np.full(n, 1.0 / n), 0
        while True:
            new = DAMPING * (links @ (scores * weights))
            new += (DAMPING * scores[dangling].sum() + 1 - DAMPING) / n
            rounds += 1
            change = np.abs(new - scores).sum()
            scores = new
            if change < tolerance or rounds == 300:
                return scores

    return solve


def igraph_solver(a, b, tolerance):
    import igraph

    n = int(max(a.max(), b.max())) + 1
    graph = igraph.Graph(n=n, edges=np.column_stack([a, b]).astype(np.int64), directed=True)
    graph.simplify()
    return lambda: np.array(graph.pagerank(damping=DAMPING))


def networkit_solver(a, b, tolerance):
    import networkit as nk

    nk.setNumberOfThreads(2)
    n = int(max(a.max(), b.max())) + 1
    graph = nk.GraphFromCoo((a.astype(np.uint64), b.astype(np.uint64)), n, False, True)
    graph.removeMultiEdges()
    graph.removeSelfLoops()

    def solve():
        handling = nk.centrality.SinkHandling.DistributeSinks
        ranking = nk.centrality.PageRank(graph, DAMPING, tolerance, distributeSinks=handling)
        ranking.norm = nk.centrality.Norm.L1_NORM
        ranking.run()
        return np.array(ranking.scores())

    return solve


def rustworkx_solver(path, tolerance):
    import rustworkx

    graph = rustworkx.PyDiGraph.read_edge_list(path, deliminator="\t")

    def solve():
        found = rustworkx.pagerank(graph, alpha=DAMPING, tol=tolerance / graph.num_nodes(), max_iter=300)
        return np.array([found[page] for page in range(len(found))])

    return solve


def main():
    library, path, tolerance = sys.argv[1], sys.argv[2], float(sys.argv[3])
    begun = time.time()
    if library == "rustworkx":
        read = time.time()
        solve = rustworkx_solver(path, tolerance)
    else:
        a, b = edges(path)
        read = time.time()
        make = {"scipy": scipy_solver, "igraph": igraph_solver, "networkit": networkit_solver}[library]
        solve = make(a, b, tolerance)
        del a, b
    built = time.time()
    scores = solve()
    solved = time.time()
    best = np.argsort(-scores)[:10]
    report = {"read": read - begun, "build": built - read, "solve": solved - built}
    print(json.dumps({**report, "best": [[int(page), float(scores[page])] for page in best]}))


main()
