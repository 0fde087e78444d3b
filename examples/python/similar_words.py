"""Words by edit distance

The nearest words of misspelt ones, by the fewest letters to insert, delete or replace. A cover tree needs no coordinates for
that, only the distance of two words.
"""

import sys

import matplotlib.pyplot as plt

import kith

words = """neighbour neighbor neighing labour harbour nearest near dearest distance instance distant metric metrical
symmetric triangle tangle trinket inequality equality quality cover clover lover tree three free threes query quarry
queries index indices indexed vector victor sector letter litter better""".split()
misspelt = ["nieghbor", "metrick", "thre", "qurey", "vectr", "distence"]

tree = kith.CoverTree(words, metric="edit")
distances, indices = tree.knn(misspelt, k=4)

figure, ax = plt.subplots(figsize=(10, 5), layout="constrained")
for row, (query, near, numbers) in enumerate(zip(misspelt, distances, indices)):
    ax.text(-0.1, row, query, ha="right", va="center", color="#c8553d", weight="bold")
    for distance in sorted(set(near)):
        same = [words[i] for i, d in zip(numbers, near) if d == distance]
        ax.plot([0, distance], [row, row], color="#9fb1c1", zorder=0)
        ax.plot(distance, row, "o", color="#30475e")
        ax.text(distance, row - 0.15, ", ".join(same), ha="left", va="bottom")
ax.set(xlim=(-1, distances.max() + 1.2), ylim=(len(misspelt) - 0.4, -0.6), xlabel="letters to change", yticks=[])
ax.set_xticks(range(int(distances.max()) + 1))
ax.spines[["left", "top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "similar_words.png", dpi=120)
