# SPDX-License-Identifier: GPL-2.0-only
# Builds objects, groups, sorts and prints them.
[range(3000) | {key: (. * 7919 % 257), name: "n\(. % 31)", list: [range(. % 7)]}]
| group_by(.key)
| map({key: .[0].key, names: (map(.name) | unique | join("-")), sum: (map(.list | add // 0) | add)})
| sort_by(-.sum, .key)
| .[0:20]
